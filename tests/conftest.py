"""Fixtures that every test may ask for."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.cast import Cast, make_cast

# Machines that run tests are busy: how long an example takes says nothing. Where the suite
# decides whether a change may land, the same examples are drawn each time.
settings.register_profile(
    "suite",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("suite")


@pytest.fixture
def cast(db: None) -> Cast:
    """Owner, team mate and outsider with their vaults."""
    return make_cast()
