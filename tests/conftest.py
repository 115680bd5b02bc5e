"""Fixtures that every test may ask for."""

from __future__ import annotations

import pytest

from tests.cast import Cast, make_cast


@pytest.fixture
def cast(db: None) -> Cast:
    """Owner, team mate and outsider with their vaults."""
    return make_cast()
