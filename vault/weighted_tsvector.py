"""The expression of the generated keyword column."""

from __future__ import annotations

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Func
from django.db.models.sql.compiler import SQLCompiler


class WeightedTsvector(Func):
    """tsvector of a chunk: heading A, context, content and embeds D, made tokens C.

    The arguments are text config, heading text, context, content, made tokens and, since
    the fifth migration, text embedded from other notes. Made
    tokens (identifiers, n-grams) go through `simple`, which leaves them as they are.
    """

    template = (
        "(setweight(to_tsvector(%(config)s, %(heading)s), 'A') || "
        "to_tsvector(%(config)s, %(context)s || ' ' || %(content)s%(embedded)s) || "
        "setweight(to_tsvector('simple'::regconfig, %(made)s), 'C'))"
    )

    def as_sql(  # type: ignore[override]
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **extra_context: Any
    ) -> tuple[str, tuple[Any, ...]]:
        names = ("config", "heading", "context", "content", "made", "embedded")
        columns = {"embedded": ""}
        for name, expression in zip(names, self.source_expressions, strict=False):
            columns[name], _params = compiler.compile(expression)
        if columns["embedded"]:
            columns["embedded"] = f" || ' ' || {columns['embedded']}"
        return str(self.template) % columns, ()
