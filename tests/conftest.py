"""What all tests share: how properties are searched, and what coverage measures."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent
# Measuring slows every call by half, and the other tests have nothing to add: these alone
# reach what `make test` demands of the folders of the same names.
MEASURED = (HERE / "program", HERE / "signatures")

# No property is a test of time: the first example of many loads a lexicon or a package, and
# the machine may be busy. The examples are the same in every run; `--hypothesis-profile=search`
# looks for new ones.
settings.register_profile(
    "same",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "search", settings.get_profile("same"), derandomize=False, max_examples=1000
)
settings.load_profile("same")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not any(item.path.is_relative_to(folder) for folder in MEASURED):
            item.add_marker(pytest.mark.no_cover)
