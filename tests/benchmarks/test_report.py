"""Tables and charts of measured times."""

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


def test_the_page_says_what_held_and_what_did_not(tmp_path):
    report.write(tmp_path / "net.json", "net", "4 cores", ROWS)
    report.write_comparison(tmp_path, ["net", "not measured"])
    page = (tmp_path / "comparison.md").read_text()
    assert "| A net | 1 | TensorFlow | 2.0 | 4.0 | **2.00** (1.90 to 2.10) | 1.2 |" in page
    assert "| A net | 1 | PyTorch | 2.0 | 1.0 | **0.50** (0.40 to 0.60) | 1.2 (missed) |" in page
    assert "4 cores" in page
    assert (tmp_path / "comparison.svg").read_text().startswith("<?xml")


def test_starts_and_memory_of_models_get_a_table(tmp_path):
    figures = [
        {"first_start": first, "second_start": 4.0, "megabytes": 1100} for first in (8.0, 5.0)
    ]
    rows = [row | found for row, found in zip(ROWS, figures, strict=False)]
    rows[1]["at most"] = [1.2, 1.0, 1.1]
    report.write(tmp_path / "net.json", "net", "4 cores", rows)
    report.write_comparison(tmp_path, ["net"])
    page = (tmp_path / "comparison.md").read_text()
    assert "8.0, 5.0: **1.60** (missed) | 4.0, 4.0: **1.00** | 1,100, 1,100: **1.00** |" in page
    assert (tmp_path / "models.svg").exists()


def test_an_overhead_gets_a_page_of_its_own(tmp_path):
    report.write(tmp_path / "a_loop.json", "a_loop", "4 cores", [{"devices": "1", "program": "x"}])
    report.write_page(tmp_path, "a_loop")
    report.write_page(tmp_path, "not_measured")
    assert "# A loop" in (tmp_path / "a_loop.md").read_text()
    assert "| 1 | x |" in (tmp_path / "a_loop.md").read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a_loop.json", "a_loop.md"]
