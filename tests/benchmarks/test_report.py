"""Tables and charts of measured times."""

import io

import pytest
from rich.console import Console

from tests.benchmarks import report

ROWS = [
    {
        "workload": "A net",
        "devices": 1,
        "program": name,
        "milliseconds": [1.0, milliseconds, 9.0],
        "times as fast": faster,
        "at least": target,
        "holds": None if target is None else faster[1] >= target,
    }
    for name, milliseconds, faster, target in [
        ("jaxtribute", 2.0, None, None),
        ("TensorFlow", 4.0, [1.9, 2.0, 2.1], 1.2),
        ("PyTorch", 1.0, [0.4, 0.5, 0.6], 1.2),
    ]
]


def as_read(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


def page_in(folder):
    return as_read((folder / "comparison.md").read_text())


def test_the_page_says_what_held_and_what_did_not(tmp_path):
    report.write(tmp_path / "net.json", "net", "4 cores", ROWS)
    report.write_comparison(tmp_path, ["net", "not measured"])
    page = page_in(tmp_path)
    assert "**As fast or faster in 1 of 2 comparisons**, measured on 4 cores." in page
    assert "| A net | 1 | TensorFlow | **2.00** (1.90 to 2.10) | 1.2 | 2.00 : 4.00 |" in page
    missed = "1.2 ([missed](limits.md))"
    assert f"|  | 1 | PyTorch | **0.50** (0.40 to 0.60) | {missed} | 2.00 : 1.00 |" in page
    assert (tmp_path / "comparison.svg").read_text().startswith("<?xml")


def test_each_kind_of_comparison_has_its_heading(tmp_path):
    titles = {
        "startup": "Import of the front end",
        "servers": "A net on parameter servers, 1 server",
        "workers": "A net, 2 processes",
        "lines": "Input alone: lines",
        "net": "A net",
    }
    for name, title in titles.items():
        rows = [row | {"workload": title} for row in ROWS]
        report.write(tmp_path / f"{name}.json", name, "4 cores; ", rows)
    report.write_comparison(tmp_path, list(titles))
    page = page_in(tmp_path)
    words = [line for line in page.splitlines() if line.startswith(("## ", "| A", "| I", "| l"))]
    assert [word.split(" | ")[0] for word in words] == [
        *("## How to read the tables", "## Training steps", "| A net"),
        *("## Input", "| lines"),
        *("## Several processes", "| A net on parameter servers, 1 server", "| A net, 2 processes"),
        *("## Starts", "| Import of the front end"),
    ]
    assert "1 of 2" not in page  # starts are compared with others of ours
    assert "in 4 of 8 comparisons" in page
    assert "4 cores\n" in page


def test_the_table_of_the_terminal_has_no_marks_of_markdown():
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(report.table(ROWS))
    assert "0.50 (0.40 to 0.60) │ 1.2 (missed) │ 2.00 : 1.00" in as_read(console.export_text())


def test_starts_and_memory_of_models_get_a_table(tmp_path):
    figures = [
        {"first_start": first, "second_start": 4.0, "megabytes": 1100} for first in (8.0, 5.0)
    ]
    rows = [row | found for row, found in zip(ROWS, figures, strict=False)]
    rows[1]["at most"] = [1.2, 1.0, 1.1]
    report.write(tmp_path / "net.json", "net", "4 cores", rows)
    report.write_comparison(tmp_path, ["net"])
    page = page_in(tmp_path)
    first = "**1.60** (8.0 : 5.0) ([missed](limits.md))"
    assert f"{first} | **1.00** (4.0 : 4.0) | **1.00** (1,100 : 1,100) | 1.2, 1.0, 1.1 |" in page
    assert (tmp_path / "models.svg").exists()
    assert not (tmp_path / "comparison.svg").exists()  # it has none of models
    assert "comparison.svg" not in page


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0.0512, "0.051"), (0.501, "0.501"), (9.3, "9.30"), (54.4, "54.4"), (9220.0, "9,220")],
)
def test_times_have_three_digits(tmp_path, milliseconds, text):
    rows = [row | {"milliseconds": [0.0, milliseconds, 0.0]} for row in ROWS]
    report.write(tmp_path / "net.json", "net", "4 cores", rows)
    report.write_comparison(tmp_path, ["net"])
    assert f"| 1.2 | {text} : {text} |" in page_in(tmp_path)


def test_an_overhead_gets_a_page_of_its_own(tmp_path):
    report.write(tmp_path / "a_loop.json", "a_loop", "4 cores", [{"devices": "1", "program": "x"}])
    report.write_page(tmp_path, "a_loop")
    report.write_page(tmp_path, "not_measured")
    assert "# A loop" in (tmp_path / "a_loop.md").read_text()
    assert "| 1 | x |" in (tmp_path / "a_loop.md").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a_loop.json", "a_loop.md"]
