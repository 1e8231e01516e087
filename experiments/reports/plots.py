"""Static plots of a run as SVG and PNG, the same bytes for the same numbers.

Colours are Okabe and Ito's, which colour-blind readers can tell apart; shapes and
positions carry the same difference, so that a greyscale print reads as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from stateauditor.data.extras import extra
from stateauditor.experiments.reports.figures import Bars, Dots, Figure, Scatter

BLUE: Final = "#0072B2"
ORANGE: Final = "#E69F00"
INK: Final = "#222222"
PALE: Final = "#BBBBBB"
_SETTINGS: Final[dict[str, Any]] = {
    "svg.hashsalt": "stateauditor",  # ids in the SVG must not change from run to run
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that every machine has it
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,  # a name with dollar signs is a name
}
_WIDTH: Final = 7.2


def write_plots(figures: Iterable[Figure], folder: Path) -> tuple[Path, ...]:
    """Draw each figure into ``folder`` as ``<slug>.svg`` and ``<slug>.png``.

    Raises :class:`ConfigError` where matplotlib is not installed.
    """
    matplotlib = extra("matplotlib", "drawing plots")
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **_SETTINGS}):
        for figure in figures:
            drawn = _draw(figure)
            for suffix, metadata in ((".svg", {"Date": None, "Creator": None}), (".png", _PNG)):
                path = folder / (figure.slug + suffix)
                drawn.savefig(path, metadata=metadata, dpi=150, facecolor="white")
                written.append(path)
    return tuple(written)


_PNG: Final = {"Software": None}


def _draw(figure: Figure) -> Any:
    if isinstance(figure, Dots):
        return _framed(figure, _dots, 0.34 * len(figure.rows))
    if isinstance(figure, Bars):
        return _framed(figure, _bars, 0.45 * len(figure.rows) + 0.3)
    return _framed(figure, _scatter, 3.6)


def _framed(figure: Any, draw: Callable[[Any, Any], None], height: float) -> Any:
    """A canvas with the title and the caveats above what ``draw`` puts on it."""
    canvas = extra("matplotlib.figure", "drawing plots").Figure(
        figsize=(_WIDTH, height + 1.1 + 0.2 * len(figure.caveats)), layout="constrained"
    )
    axes = canvas.add_subplot()
    axes.set_title("\n".join((figure.title, *figure.caveats)), loc="left", fontsize=10, color=INK)
    draw(axes, figure)
    return canvas


def _dots(axes: Any, figure: Dots) -> None:
    places = range(len(figure.rows))
    for place, row in zip(places, figure.rows, strict=True):
        if row.low is not None and row.high is not None:
            axes.plot([row.low, row.high], [place, place], color=BLUE, linewidth=2, zorder=2)
        if row.value is not None:
            marker = "D" if row.strong else "o"
            axes.plot(
                [row.value],
                [place],
                marker,
                color=INK if row.strong else BLUE,
                markerfacecolor="white" if row.hollow else None,
                clip_on=False,
                zorder=3,
            )
        axes.text(
            1.03, place, row.text, va="center", fontsize=9, transform=axes.get_yaxis_transform()
        )
    axes.set_yticks(list(places), [row.name for row in figure.rows])
    axes.invert_yaxis()
    axes.set_xlim(*figure.span)
    axes.set_ylim(len(figure.rows) - 0.5, -0.5)
    axes.grid(axis="x", color=PALE, linewidth=0.5, zorder=0)
    if figure.span[0] < 0:
        axes.axvline(0, color=INK, linewidth=0.8, zorder=1)
    what = "difference" if figure.span[0] < 0 else "share"
    axes.set_xlabel(f"{what}, with its 95% interval")


def _bars(axes: Any, figure: Bars) -> None:
    places = list(range(len(figure.rows)))
    most = max([1, *(max(row.wins, row.losses) for row in figure.rows)])
    axes.barh(places, [row.wins for row in figure.rows], color=BLUE, label=figure.wins_name)
    axes.barh(
        places,
        [-row.losses for row in figure.rows],
        color=ORANGE,
        edgecolor=INK,
        hatch="//",
        linewidth=0.5,
        label=figure.losses_name,
    )
    for place, row in zip(places, figure.rows, strict=True):
        axes.text(most * 1.08, place, row.text, va="center", fontsize=9)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_yticks(places, [row.name for row in figure.rows])
    axes.invert_yaxis()
    axes.set_xlim(-most * 1.05, most * 1.05)
    axes.xaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("scenarios (ties left out)")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, frameon=False, fontsize=9)


_SHAPES: Final = ("o", "s", "^", "D", "v", "P", "X", "*")


def _scatter(axes: Any, figure: Scatter) -> None:
    most = max([*(point.x for point in figure.points), 0.0]) or 1.0
    for number, point in enumerate(figure.points):
        if point.low is not None and point.high is not None:
            axes.plot(
                [point.x, point.x], [point.low, point.high], color=PALE, linewidth=2, zorder=2
            )
        axes.plot(
            [point.x],
            [point.y],
            _SHAPES[number % len(_SHAPES)],
            color=(BLUE, ORANGE, INK)[number % 3],
            markeredgecolor=INK,
            markersize=8,
            label=f"{point.name} ({point.text})",
            linestyle="none",
            zorder=3,
        )
    axes.set_xlim(0, most * 1.15)
    axes.set_ylim(0, 1)
    axes.grid(color=PALE, linewidth=0.5, zorder=0)
    axes.set_xlabel(figure.x_name)
    axes.set_ylabel(figure.y_name, fontsize=9)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), frameon=False, fontsize=9)
