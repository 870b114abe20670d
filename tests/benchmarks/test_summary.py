"""A few lines say how all comparisons came out."""

from tests.benchmarks.summary import summarize


def rows_of(workload, *others, devices=1, **figures):
    """Rows of a workload: ours, and (program, times as fast, whether the aim is reached) of each other."""
    found = [("jaxtribute", None, None), *others]
    return [
        {
            "workload": workload,
            "devices": devices,
            "program": program,
            "times as fast": faster and [0.9 * faster, faster, 1.1 * faster],
            "holds": holds,
        }
        | {key: values[number] for key, values in figures.items() if number < len(values)}
        for number, (program, faster, holds) in enumerate(found)
    ]


def test_peers_are_counted_and_what_is_slower_is_named():
    rows = [
        *rows_of("A", ("TensorFlow", 2.0, True), ("PyTorch", 1.0, None)),
        *rows_of("B", ("TensorFlow", 0.8, False), devices=2),
        *rows_of("C onto 2 devices", ("TensorFlow", 0.5, False), devices=2),
    ]
    text = summarize(rows, "2 cores")
    assert text.startswith("**As fast or faster in 2 of 4 comparisons**, measured on 2 cores.\n")
    assert (
        "| TensorFlow | 3 | **0.80** | 0.50 | 2 | 2 of 3 |\n| PyTorch | 1 | **1.00** | 1.00 | 0 | 0 of 0 |"
        in text
    )
    assert text.endswith(
        "Slower ([why](limits.md)):\n\n"
        "- 0.50 times as fast as TensorFlow: C onto 2 devices\n"
        "- 0.80 times as fast as TensorFlow: B, 2 devices\n"
    )


def test_other_settings_of_ours_do_not_count():
    rows = rows_of("A", ("TensorFlow", 2.0, True), ("jaxtribute, otherwise", 0.1, None))
    text = summarize(rows, "2 cores")
    assert "1 of 1" in text
    assert "Slower" not in text
    assert summarize(rows_of("A", ("jaxtribute, otherwise", 0.1, None)), "2 cores") == ""


def test_starts_and_memory_are_multiples_of_tensorflow():
    figures = {
        "first_start": [6.0, 3.0, 1.0],
        "second_start": [2.0, 4.0, 1.0],
        "megabytes": [9, 9, 1],
    }
    aims = {"at most": [None, [1.2, 0.8, 1.1], [0.1, 0.1, 0.1]]}
    others = [("TensorFlow", 2.0, True), ("Keras on JAX", 2.0, True)]
    text = summarize([*rows_of("A", *others, **figures, **aims), *rows_of("B", *others)], "2 cores")
    lines = [line for line in text.splitlines() if "time" in line or "memory |" in line]
    assert [line.partition(" | ")[2] for line in lines[-3:]] == [
        "1 | **2.00** | 2.00 to 2.00 | 1 of 1 |",
        "1 | **0.50** | 0.50 to 0.50 | 0 of 1 |",
        "1 | **1.00** | 1.00 to 1.00 | 0 of 1 |",
    ]
