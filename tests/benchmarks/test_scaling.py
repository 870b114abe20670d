"""The curve of a step's time over devices and processes."""

from tests.benchmarks import report
from tests.benchmarks.scaling import DEVICES, PROCESSES, draw, rows_of

TIMES = {
    ("jaxtribute", DEVICES, 1): [0.010, 0.020, 0.010],
    ("jaxtribute", DEVICES, 2): [0.015, 0.030, 0.016],
    ("jaxtribute", PROCESSES, 2): [0.030, 0.060, 0.020],
    ("TensorFlow", DEVICES, 1): [0.020, 0.020, 0.020],
    ("TensorFlow", PROCESSES, 2): [0.050, 0.040, 0.060],
}


def test_numbers_are_compared_with_one_device_of_the_same_program_and_round():
    rows = list(rows_of(TIMES))
    assert [row["times one device"] for row in rows] == ["1.00", "1.50", "3.00", "1.00", "2.50"]
    assert [row["milliseconds a step"] for row in rows] == ["10", "16", "30", "20", "50"]


def test_the_page_shows_the_curve(tmp_path):
    rows = list(rows_of(TIMES))
    report.write(tmp_path / "scaling.json", "scaling", "2 cores", rows)
    draw(tmp_path / "scaling.svg", rows)
    report.write_page(tmp_path, "scaling")
    page = (tmp_path / "scaling.md").read_text()
    assert "![Scaling](scaling.svg)" in page
    assert "| jaxtribute | processes with a device each | 2 | 30 | 3.00 |" in page
    assert (tmp_path / "scaling.svg").read_text().startswith("<?xml")
