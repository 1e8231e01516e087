"""Coverage is measured where it is demanded, by the tests that mirror what is measured."""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
# Measuring slows every call by half, and the other tests have nothing to add: these alone
# reach what `make test` demands of the folders of the same names.
MEASURED = (HERE / "program", HERE / "signatures")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not any(item.path.is_relative_to(folder) for folder in MEASURED):
            item.add_marker(pytest.mark.no_cover)
