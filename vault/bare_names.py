"""Names as people look for them in a list: Äpfel beside Apfel, capitals among small letters."""

from __future__ import annotations

from django.db.models import Func


class BareName(Func):
    """A text in small letters, without the marks above and below them.

    The same whatever locale the database has: under `C` an Ä would come after z.
    """

    template = (
        r"lower(regexp_replace(normalize(%(expressions)s, NFD), '[\u0300-\u036f]+', '', 'g'))"
    )
