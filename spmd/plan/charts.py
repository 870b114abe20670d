"""Charts as SVG, to stand in a page: a stacked bar, bars, and lines on logarithmic axes.

All are 360 units wide, so that their text can be read on a telephone. Their colours are the page's (`--c1` and on).
"""

import dataclasses
import html
import math
from collections.abc import Callable, Iterator, Sequence

_WIDTH = 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 40, 18, 10, 34


@dataclasses.dataclass(frozen=True)
class Series:
    """A line of a chart.

    Attributes:
        name: for the legend.
        points: horizontal and vertical value of each point; both positive.
        color: number of the page's colour.
        dashed: whether it is a line to compare with.
        titles: what is shown at each point; empty shows none.
    """

    name: str
    points: Sequence[tuple[float, float]]
    color: int
    dashed: bool = False
    titles: Sequence[str] = ()


def escape(text: object) -> str:
    """Makes a text safe to stand in a page.

    Args:
        text: any.

    Examples:
        >>> escape('<lambda> & "x"')
        '&lt;lambda&gt; &amp; &quot;x&quot;'
    """
    return html.escape(str(text))


def stacked_bar(parts: Sequence[tuple[str, float]], whole: float, label: str) -> str:
    """Draws parts of a whole side by side.

    Args:
        parts: what each is, and how large; they take the page's colours in order.
        whole: the length of the bar; parts beyond it are drawn behind its end.
        label: what is shown to who cannot see it.
    """
    scale = (_WIDTH - 2) / max(whole, sum(size for _, size in parts), 1e-30)
    drawn = [f'<rect class="track" x="1" y="6" width="{whole * scale:.2f}" height="24" rx="3"/>']
    at = 1.0
    for index, (name, size) in enumerate(parts):
        width = size * scale
        if width > 0:
            drawn.append(
                f'<rect class="c{index + 1}" x="{at:.2f}" y="6" width="{max(width, 0.5):.2f}" height="24">'
                f"<title>{escape(name)}</title></rect>"
            )
        at += width
    if at > 1 + whole * scale + 0.5:
        end = 1 + whole * scale
        drawn.append(f'<line class="limit" x1="{end:.2f}" x2="{end:.2f}" y1="0" y2="36"/>')
    return _svg(36, label, drawn)


def bars(rows: Sequence[tuple[str, float, str]], label: str) -> str:
    """Draws bars below each other, with their names above them.

    Args:
        rows: name, length and the text for the length.
        label: what is shown to who cannot see it.
    """
    most = max((size for _, size, _ in rows), default=0.0) or 1.0
    drawn: list[str] = []
    for index, (name, size, text) in enumerate(rows):
        y = 34 * index
        width = (_WIDTH - 2) * size / most
        drawn += [
            f'<text x="1" y="{y + 11}">{escape(name)}</text>',
            f'<text x="{_WIDTH - 1}" y="{y + 11}" text-anchor="end" class="value">{escape(text)}</text>',
            f'<rect class="track" x="1" y="{y + 16}" width="{_WIDTH - 2}" height="10" rx="2"/>',
            f'<rect class="c{index + 1}" x="1" y="{y + 16}" width="{width:.2f}" height="10" rx="2"/>',
        ]
    return _svg(34 * len(rows), label, drawn)


def line_chart(
    series: Sequence[Series],
    x_title: str,
    y_title: str,
    y_text: Callable[[float], str],
    x_text: Callable[[float], str],
    *,
    whole_powers_of_two: bool = False,
    label: str = "",
) -> str:
    """Draws lines on logarithmic axes.

    Args:
        series: at least one, with at least one point.
        x_title: what the horizontal axis shows.
        y_title: what the vertical axis shows.
        y_text: writes a value of the vertical axis.
        x_text: writes a value of the horizontal axis.
        whole_powers_of_two: whether the horizontal axis is marked at 1, 2, 4 and so on, not at powers of ten.
        label: what is shown to who cannot see it.
    """
    height = 230
    every = [point for each in series for point in each.points]
    x_low, x_high = _range([x for x, _ in every], 2 if whole_powers_of_two else 10)
    y_low, y_high = _range([y for _, y in every], 10)

    def x_of(value: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * _share(value, x_low, x_high)

    def y_of(value: float) -> float:
        return height - _BOTTOM - (height - _TOP - _BOTTOM) * _share(value, y_low, y_high)

    drawn: list[str] = []
    for tick in _ticks(y_low, y_high, 10, 6):
        y = y_of(tick)
        drawn += [
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>',
            f'<text x="{_LEFT - 4}" y="{y + 3.5:.1f}" text-anchor="end">{escape(y_text(tick))}</text>',
        ]
    for tick in _ticks(x_low, x_high, 2 if whole_powers_of_two else 10, 7):
        x = x_of(tick)
        drawn += [
            f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{height - _BOTTOM}"/>',
            f'<text x="{x:.1f}" y="{height - _BOTTOM + 13}" text-anchor="middle">{escape(x_text(tick))}</text>',
        ]
    drawn.append(
        f'<text x="{_WIDTH - _RIGHT}" y="{height - 4}" text-anchor="end" class="title">{escape(x_title)}</text>'
    )
    drawn.append(f'<text x="1" y="{height - 4}" class="title">{escape(y_title)}</text>')
    for each in series:
        drawn += _line(each, x_of, y_of)
    return _svg(height, label or y_title, drawn) + _legend(series)


def _line(
    series: Series, x_of: Callable[[float], float], y_of: Callable[[float], float]
) -> Iterator[str]:
    places = [(x_of(x), y_of(y)) for x, y in series.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    style = " dashed" if series.dashed else ""
    if len(places) > 1:
        yield f'<polyline class="line s{series.color}{style}" points="{path}"/>'
    if not series.dashed:
        for index, (x, y) in enumerate(places):
            title = series.titles[index] if index < len(series.titles) else ""
            yield (
                f'<circle class="c{series.color}" cx="{x:.1f}" cy="{y:.1f}" r="3.5">'
                f"<title>{escape(title)}</title></circle>"
            )


def _legend(series: Sequence[Series]) -> str:
    items = "".join(
        f'<li><span class="key b{each.color}{" dashed" if each.dashed else ""}"></span>{escape(each.name)}</li>'
        for each in series
    )
    return f'<ul class="legend">{items}</ul>'


def _svg(height: float, label: str, drawn: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height:g}" role="img" aria-label="{escape(label)}">'
        f"{''.join(drawn)}</svg>"
    )


def _range(values: Sequence[float], base: int) -> tuple[float, float]:
    """The powers of a base that lie around some values."""
    low = base ** math.floor(math.log(min(values), base) + 1e-9)
    high = base ** math.ceil(math.log(max(values), base) - 1e-9)
    return low, high if high > low else low * base


def _share(value: float, low: float, high: float) -> float:
    return math.log(value / low) / math.log(high / low)


def _ticks(low: float, high: float, base: int, most: int) -> list[float]:
    count = round(math.log(high / low, base))
    step = max(1, math.ceil(count / most))
    return [low * base**i for i in range(0, count + 1, step)]
