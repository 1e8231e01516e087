"""A grid's chart for a terminal: zero in the middle, every interval where it belongs."""

from __future__ import annotations

from stateauditor.experiments.ablation.report import CHART_WIDTH, text_chart
from stateauditor.experiments.reports.figures import Dot, Dots


def chart(*rows: Dot) -> list[str]:
    return text_chart(Dots("d", "title", (), rows, span=(-0.1, 0.1))).splitlines()


def drawn(line: str) -> str:
    """The columns between name and numbers."""
    return line[len("better  ") : len("better  ") + CHART_WIDTH]


def test_a_difference_stands_on_its_side_of_zero_with_its_interval() -> None:
    fence, title, better, worse, end = chart(
        Dot("better", 0.05, 0.0, 0.1, signed=True),
        Dot("worse", -0.05, -0.075, -0.025, signed=True),
    )
    assert (fence, end) == ("```", "```")
    assert title.split() == ["-", "base", "-.100", "+.100"]
    assert drawn(better) == " " * 20 + "-" * 10 + "o" + "-" * 10
    assert drawn(worse) == " " * 5 + "-----o-----" + " " * 4 + "|" + " " * 20
    assert better.endswith("+.050 [+.000, +.100]")


def test_a_cell_without_a_figure_has_a_line_of_its_own() -> None:
    line = chart(Dot("better", None, None, None, signed=True))[2]
    assert drawn(line).strip() == "|"
    assert line.endswith("–")


def test_a_grid_without_cells_has_no_chart() -> None:
    assert chart() == []
