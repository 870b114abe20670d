"""Charts as SVG."""

import re
from xml.etree import ElementTree

import pytest

from spmd.plan.charts import Series, bars, line_chart, stacked_bar


def elements(svg: str, tag: str) -> list[dict[str, str]]:
    root = ElementTree.fromstring(svg[: svg.index("</svg>") + 6])
    return [each.attrib for each in root.iter(tag)]


def test_parts_of_a_bar_are_in_proportion() -> None:
    _, first, second = elements(stacked_bar([("a", 1), ("<b>", 3)], 8, "memory"), "rect")
    assert float(second["width"]) == pytest.approx(3 * float(first["width"]), rel=0.01)
    assert float(second["x"]) == pytest.approx(float(first["x"]) + float(first["width"]), abs=0.1)
    assert float(first["width"]) == pytest.approx(358 / 8, rel=0.01)


def test_what_does_not_fit_is_drawn_behind_the_limit() -> None:
    drawn = stacked_bar([("a", 12)], 8, "memory")
    (limit,) = elements(drawn, "line")
    _, part = elements(drawn, "rect")
    assert float(limit["x1"]) < float(part["x"]) + float(part["width"]) <= 360
    assert not elements(stacked_bar([("a", 8)], 8, "memory"), "line")


def test_bars() -> None:
    drawn = bars([("compute", 2.0, "2 s"), ("HBM", 1.0, "1 s"), ("none", 0.0, "0 s")], "times")
    widths = [float(each["width"]) for each in elements(drawn, "rect") if each["class"] != "track"]
    assert widths == pytest.approx([358, 179, 0])
    assert elements(bars([("none", 0.0, "0 s")], "times"), "rect")


def test_lines_lie_inside_of_the_axes() -> None:
    series = [
        Series("a", [(1, 5.0), (4, 20.0), (256, 900.0)], 1, titles=["one", "four", "more"]),
        Series("perfect", [(1, 5.0), (256, 1280.0)], 5, dashed=True),
    ]
    drawn = line_chart(
        *(series, "chips", "rows/s"),
        y_text=lambda value: f"{value:g}",
        x_text=lambda value: f"{value:g}",
        whole_powers_of_two=True,
    )
    lines = elements(drawn, "polyline")
    assert [each["class"] for each in lines] == ["line s1", "line s5 dashed"]
    for line in lines:
        for x, y in re.findall(r"([\d.]+),([\d.]+)", line["points"]):
            assert 0 < float(x) < 360
            assert 0 < float(y) < 230
    assert len(elements(drawn, "circle")) == 3
    assert ">256</text>" in drawn
    assert ">1000</text>" in drawn


def test_a_chart_of_one_point() -> None:
    drawn = line_chart(
        [Series("a", [(4, 1.0)], 1)], "x", "y", y_text=str, x_text=str, whole_powers_of_two=True
    )
    assert len(elements(drawn, "circle")) == 1
