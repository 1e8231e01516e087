"""The package's edges: what it exports, what it needs, and what its examples show."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys

import pytest

from stateauditor import metrics

MODULES = sorted(f"{metrics.__name__}.{m.name}" for m in pkgutil.iter_modules(metrics.__path__))


def test_every_exported_name_exists_and_is_listed_once() -> None:
    assert sorted(set(metrics.__all__)) == sorted(metrics.__all__)
    assert all(hasattr(metrics, name) for name in metrics.__all__)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_are_true(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_scores_and_cost_work_without_the_experiments_extra() -> None:
    code = """
import sys
for name in ("scipy", "statsmodels", "pandas"):
    sys.modules[name] = None
from stateauditor.metrics import CellScore, cost_summary, score_table
cell = CellScore(uid="a", type="T1", dimension="SR", passed=True)
assert score_table([cell]).cell("T1", "SR").accuracy == 1.0
assert cost_summary([], {}).scenarios == 0
assert "dspy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
