"""What is drawn, from the same numbers to the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from stateauditor.experiments.reports.drawing import draw
from stateauditor.experiments.reports.figures import (
    Bar,
    Bars,
    Dot,
    Dots,
    Point,
    Scatter,
    cost_figure,
    figures_of,
    headline,
    slugged,
)
from stateauditor.experiments.reports.plots import write_plots
from stateauditor.experiments.results.compare import compare_runs
from stateauditor.metrics import KEY_JUDGE_LABEL
from stateauditor.signatures.errors import ConfigError
from tests.experiments.builders import (
    folder,
    records,
    summary,
)

JUDGES = ("first", "second", "third")


def test_a_run_has_a_figure_for_all_that_was_measured(tmp_path: Path) -> None:
    a = folder(tmp_path / "a", records(JUDGES))
    found = figures_of(summary(a), compare_runs(a, a, draws=200), [summary(a)])
    slugs = [figure.slug for figure in found]
    assert slugs[0] == "cells"
    assert slugs[-6:] == ["key", "directives", "recall", "wins", "key_wins", "cost"]
    assert sum(slug.startswith("cells_") for slug in slugs) == 7
    cells = found[0]
    assert isinstance(cells, Dots)
    assert [row.name for row in cells.rows[:2]] == ["SR T1", "SR T2"]
    assert cells.rows[-1].strong


def test_the_headline_is_the_majority_unless_it_cannot_decide(tmp_path: Path) -> None:
    three = headline(summary(folder(tmp_path / "a", records(JUDGES))))
    two = headline(summary(folder(tmp_path / "b", records(JUDGES[:2]))))
    assert three is not None
    assert two is not None
    assert (three.judge, two.judge) == ("majority", "first")


def test_figures_of_key_judge_and_cost_carry_its_label(tmp_path: Path) -> None:
    found = {f.slug: f for f in figures_of(summary(folder(tmp_path / "a", records(()))))}
    assert KEY_JUDGE_LABEL in found["key"].caveats
    cost = found["cost"]
    assert isinstance(cost, Scatter)
    assert KEY_JUDGE_LABEL in cost.y_name


def test_cost_is_compared_in_the_first_measure_that_all_runs_have(tmp_path: Path) -> None:
    paid = summary(folder(tmp_path / "a", records(("first",))))
    unpriced = paid.cost.model_copy(update={"mean_cost": None})
    free = paid.cost.model_copy(update={"mean_cost": 0.0, "mean_tokens": 0.0})
    names = []
    for cost in (paid.cost, unpriced, free):
        figure = cost_figure([paid, paid.model_copy(update={"cost": cost})])
        assert figure is not None
        names.append(figure.x_name)
    # A free run beside a paid one is still told in dollars.
    assert names == ["US dollars a scenario", "tokens a scenario", "US dollars a scenario"]
    alone = cost_figure([paid.model_copy(update={"cost": free})])
    assert alone is not None
    assert alone.x_name == "calls a scenario"


def test_runs_of_different_judges_are_in_no_common_figure(tmp_path: Path) -> None:
    one = summary(folder(tmp_path / "a", records(("first",))))
    other = summary(folder(tmp_path / "b", records(("second",)), name="other"))
    figure = cost_figure([one, other])
    assert figure is not None
    assert [point.name for point in figure.points] == ["trial"]
    unscored = one.model_copy(update={"scores": (), "key": None})
    assert cost_figure([unscored]) is None


def test_plots_are_the_same_bytes_each_time_and_carry_no_date(tmp_path: Path) -> None:
    a = folder(tmp_path / "a", records(("first",)))
    found = figures_of(summary(a), compare_runs(a, a, draws=200))
    figures = [figure for figure in found if figure.slug in ("cells", "key_wins", "cost")]
    one = write_plots(figures, tmp_path / "one")
    two = write_plots(figures, tmp_path / "two")
    assert {path.suffix for path in one} == {".svg", ".png"}
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    for path in one:
        assert b"2026" not in path.read_bytes()[:2000] or path.suffix == ".png"
        assert b"<dc:date>" not in path.read_bytes()


def test_names_are_drawn_as_they_are(tmp_path: Path) -> None:
    a = folder(tmp_path / "a", records(("first",)))
    found = figures_of(summary(a).model_copy(update={"name": "$x$ 100% _{y}"}))
    assert write_plots(found[:1], tmp_path / "plots")


def test_a_missing_interval_is_drawn_as_nothing(tmp_path: Path) -> None:
    rows = (Dot("SR T1", None, None, None), Dot("Macro", 0.5, None, None, strong=True))
    figure = Dots("cells", "t", (), rows)
    drawing = draw(figure)
    assert len(drawing.shapes) == 1
    assert not [line for line in drawing.lines if line.css == "interval"]
    assert "SR T1: –; Macro: .500" in drawing.description
    point = Scatter("cost", "t", (), "x", "y", (Point("a", 0.0, 0.5, None, None, "a"),))
    assert write_plots([figure, point], tmp_path)
    assert len(draw(point).shapes) == 2


def test_file_names_are_safe_whatever_a_judge_is_called() -> None:
    assert slugged("../a b/ü:c") == "a-b-c"
    assert slugged("***") == "judge"


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(ConfigError, match=r"drawing plots needs the package matplotlib"):
        write_plots([], tmp_path)


def test_every_drawing_stays_inside_its_frame_and_says_itself_in_words(tmp_path: Path) -> None:
    a = folder(tmp_path / "a", records(JUDGES))
    for figure in figures_of(summary(a), compare_runs(a, a, draws=200), [summary(a)]):
        drawing = draw(figure)
        assert all(0 <= x <= 380 for line in drawing.lines for x in (line.x1, line.x2))
        assert all(0 <= text.x <= 380 and text.y <= drawing.height for text in drawing.texts)
        assert drawing.grid.rows
        assert all(row[0] in drawing.description for row in drawing.grid.rows)


def test_losses_are_drawn_to_the_left_of_the_middle() -> None:
    rows = (Bar("all", 0, 7, "0:7"), Bar("SR", 3, 0, "3:0"))
    drawing = draw(Bars("wins", "t", (), "A", "B", rows))
    left = [shape.d for shape in drawing.shapes if shape.css == "losses"]
    assert left[0].startswith("M36.00 ")
    assert "h0.00" in left[1]
