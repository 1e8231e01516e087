"""Where the parts of an inline SVG stand; the template ``chart.svg.j2`` writes it out.

A drawing is 380 units wide, so that its text keeps its size on a phone. Colours and
line styles are the page's, by class, and follow light and dark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from stateauditor.experiments.reports.figures import Bars, Dots, Figure, Scatter
from stateauditor.experiments.reports.markdown import Grid, number, share

WIDTH: Final = 380
_SHORT: Final = 7  # characters of a name that fits beside its row


@dataclass(frozen=True)
class Text:
    """A word in a drawing; ``anchor`` is start, middle or end."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    css: str = ""


@dataclass(frozen=True)
class Line:
    """A stroke."""

    x1: float
    y1: float
    x2: float
    y2: float
    css: str


@dataclass(frozen=True)
class Shape:
    """A filled outline, by its SVG path."""

    d: str
    css: str


@dataclass(frozen=True)
class Drawing:
    """An SVG and the table that says the same."""

    title: str
    description: str
    caveats: tuple[str, ...]
    height: float
    lines: tuple[Line, ...]
    shapes: tuple[Shape, ...]
    texts: tuple[Text, ...]
    grid: Grid
    slug: str


def draw(figure: Figure) -> Drawing:
    """Lay a figure out."""
    if isinstance(figure, Dots):
        return _dots(figure)
    if isinstance(figure, Bars):
        return _bars(figure)
    return _scatter(figure)


def _dots(figure: Dots) -> Drawing:
    short = max(len(row.name) for row in figure.rows) <= _SHORT
    left, right, step = (54.0, 232.0, 30.0) if short else (8.0, 232.0, 44.0)
    bottom = 8 + step * len(figure.rows)
    lines = [Line(_at(t, left, right), 4, _at(t, left, right), bottom, "grid") for t in _TICKS]
    texts = [Text(_at(t, left, right), bottom + 15, f"{t:g}", "middle", "tick") for t in _TICKS]
    shapes = []
    for place, row in enumerate(figure.rows):
        top = 4 + step * place
        y = top + (16 if short else 30)
        texts.append(Text(0, y + 5, row.name) if short else Text(0, top + 15, row.name))
        texts.append(Text(244, y + 5, row.text, css="figure"))
        if row.low is not None and row.high is not None:
            low, high = (_at(v, left, right) for v in (row.low, row.high))
            lines.append(Line(low, y, high, y, "interval"))
        if row.value is not None:
            x = _at(row.value, left, right)
            outline = _diamond(x, y, 6) if row.strong else _circle(x, y, 5)
            shapes.append(Shape(outline, "hollow" if row.hollow else "dot"))
    rows = tuple((row.name, row.text) for row in figure.rows)
    return Drawing(
        title=figure.title,
        description="; ".join(f"{row.name}: {row.text}" for row in figure.rows),
        caveats=figure.caveats,
        height=bottom + 20,
        lines=tuple(lines),
        shapes=tuple(shapes),
        texts=tuple(texts),
        grid=Grid(("", "Share [95% CI]"), rows),
        slug=figure.slug,
    )


_TICKS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)


def _bars(figure: Bars) -> Drawing:
    most = max([1, *(max(row.wins, row.losses) for row in figure.rows)])
    middle, reach, step = WIDTH / 2, WIDTH / 2 - 36, 46.0
    lines, shapes, texts = [], [], []
    for place, row in enumerate(figure.rows):
        top = 24 + step * place
        y, wins, losses = top + 20, reach * row.wins / most, reach * row.losses / most
        texts.append(Text(0, top + 14, f"{row.name}: {row.text}"))
        shapes.append(Shape(_box(middle, y, wins, 14), "wins"))
        shapes.append(Shape(_box(middle - losses, y, losses, 14), "losses"))
        texts.append(Text(middle + wins + 4, y + 12, str(row.wins), css="figure"))
        texts.append(Text(middle - losses - 4, y + 12, str(row.losses), "end", "figure"))
    bottom = 24 + step * len(figure.rows)
    lines.append(Line(middle, 22, middle, bottom, "axis"))
    texts += [
        Text(0, 13, f"◀ {figure.losses_name}", css="tick"),
        Text(WIDTH, 13, f"{figure.wins_name} ▶", "end", "tick"),
    ]
    rows = tuple((row.name, str(row.wins), str(row.losses), row.text) for row in figure.rows)
    return Drawing(
        title=figure.title,
        description="; ".join(f"{row.name}: {row.text}" for row in figure.rows),
        caveats=figure.caveats,
        height=bottom + 6,
        lines=tuple(lines),
        shapes=tuple(shapes),
        texts=tuple(texts),
        grid=Grid(("", figure.wins_name, figure.losses_name, "Wins:losses"), rows),
        slug=figure.slug,
    )


def _scatter(figure: Scatter) -> Drawing:
    left, right, top, bottom = 34.0, WIDTH - 12.0, 22.0, 212.0
    most = max(point.x for point in figure.points) * 1.15 or 1.0
    lines, shapes = [], []
    texts = [Text(0, 13, figure.y_name, css="tick")]
    for tick in _TICKS:
        y = bottom - (bottom - top) * tick
        lines.append(Line(left, y, right, y, "grid"))
        texts.append(Text(left - 6, y + 4, f"{tick:g}", "end", "tick"))
    for part in (0.0, 0.5, 1.0):
        anchor = "end" if part == 1 else "middle"
        texts.append(
            Text(left + (right - left) * part, bottom + 16, _tick(most * part), anchor, "tick")
        )
    texts.append(Text(right, bottom + 32, figure.x_name, "end", "tick"))
    for place, point in enumerate(figure.points):
        x = left + (right - left) * point.x / most
        y = bottom - (bottom - top) * point.y
        if point.low is not None and point.high is not None:
            ends = (bottom - (bottom - top) * v for v in (point.low, point.high))
            lines.append(Line(x, next(ends), x, next(ends), "interval"))
        outline = (_circle, _square, _diamond)[place % 3]
        shapes.append(Shape(outline(x, y, 6), "dot" if place == 0 else "losses"))
        key = bottom + 54 + 20 * place
        shapes.append(Shape(outline(8, key - 5, 6), "dot" if place == 0 else "losses"))
        texts.append(Text(22, key, f"{point.name}: {point.text}"))
    rows = tuple((p.name, _tick(p.x), share(p.y), p.text) for p in figure.points)
    return Drawing(
        title=figure.title,
        description="; ".join(f"{p.name}: {p.text}" for p in figure.points),
        caveats=figure.caveats,
        height=bottom + 50 + 20 * len(figure.points),
        lines=tuple(lines),
        shapes=tuple(shapes),
        texts=tuple(texts),
        grid=Grid(("Run", figure.x_name, figure.y_name, "Both"), rows),
        slug=figure.slug,
    )


def _at(value: float, left: float, right: float) -> float:
    return round(left + (right - left) * value, 2)


def _tick(value: float) -> str:
    return number(value, 4 if value < 1 else 1 if value < 100 else 0)


def _circle(x: float, y: float, r: float) -> str:
    return f"M{x - r:.2f} {y:.2f}a{r} {r} 0 1 0 {2 * r} 0a{r} {r} 0 1 0 {-2 * r} 0z"


def _square(x: float, y: float, r: float) -> str:
    return _box(x - r, y - r, 2 * r, 2 * r)


def _diamond(x: float, y: float, r: float) -> str:
    return f"M{x:.2f} {y - r:.2f}l{r} {r}l{-r} {r}l{-r} {-r}z"


def _box(x: float, y: float, width: float, height: float) -> str:
    return f"M{x:.2f} {y:.2f}h{width:.2f}v{height:.2f}h{-width:.2f}z"
