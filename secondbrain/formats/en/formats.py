"""The day before the month, hours to 24, and which time zone they are of."""

from __future__ import annotations

DATE_FORMAT = "j M Y"
SHORT_DATE_FORMAT = "j M Y"
DATETIME_FORMAT = "j M Y, H:i T"
SHORT_DATETIME_FORMAT = "j M Y, H:i T"
TIME_FORMAT = "H:i T"
