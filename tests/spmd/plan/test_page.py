"""Plans as pages."""

import re
from html.parser import HTMLParser

from spmd.plan.facts import Memory
from spmd.plan.page import plan_page
from spmd.plan.report import make_plan
from tests.spmd.plan.programs import facts_of

_VOID = {"meta", "br", "rect", "line", "circle", "polyline"}


class Parser(HTMLParser):
    """Checks that tags are closed in order, and collects them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data) -> None:
        self.text.append(data)


def parsed(**changes) -> tuple[str, Parser]:
    page = plan_page(make_plan(facts_of(**changes)))
    parser = Parser()
    parser.feed(page)
    assert parser.open == []
    return page, parser


def test_one_file_without_network_or_script() -> None:
    page, parser = parsed()
    tags = [tag for tag, _ in parser.tags]
    assert not {"script", "link", "img", "iframe", "object"}.intersection(tags)
    assert not re.search(r"https?:|@import|url\(|src=|href=", page)
    assert page.count("<svg") == 6
    assert len(page) < 60_000


def test_phones_and_both_colour_schemes() -> None:
    page, parser = parsed()
    assert (
        "meta",
        {"name": "viewport", "content": "width=device-width, initial-scale=1"},
    ) in parser.tags
    assert "prefers-color-scheme:dark" in page
    widths = {attributes["viewbox"].split()[2] for tag, attributes in parser.tags if tag == "svg"}
    assert widths == {"360"}  # so that text is not shrunk on a telephone


def test_all_that_was_asked_is_there() -> None:
    _, parser = parsed()
    text = " ".join(parser.text)
    for part in (
        *("train on v5e:2x2", "parameters", "all-reduce", "train.py:22", "MFU", "v5e:16x16"),
        *("XLA's figures", "our estimate", "197 TFLOP/s", "the same global batch"),
    ):
        assert part in text, part
    assert "nan" not in text.lower().split()


def test_texts_are_escaped() -> None:
    page, parser = parsed(name="<script>alert(1)</script>")
    assert "<script" not in page
    text = " ".join(parser.text)
    assert "<script>alert(1)</script>" in text
    assert "<y> & z" in text
    assert "# <b>" in text
    assert "a <note>" in text


def test_a_step_that_does_not_fit_and_one_without_times() -> None:
    page, _ = parsed(memory=Memory(10 * 2**30, 0, 0, 10 * 2**30, 0))
    assert "does not fit" in page
    assert 'class="limit"' in page
    page, _ = parsed(topology="cpu:4", chip="cpu", compiler_cost={})
    assert "Roofline" not in page
    assert "Scaling" not in page
