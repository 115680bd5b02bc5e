"""Search, its measurement and its lab as pages and scripts see them."""

from __future__ import annotations
