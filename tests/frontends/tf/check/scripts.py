"""Scripts that the tests check: examples, and programs of documents."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
SCRIPTS = sorted(
    [
        *(ROOT / "examples").glob("*.py"),
        *(ROOT / "tests" / "frontends" / "seeds").glob("*.txt"),
        *(ROOT / "tests" / "frontends" / "guides").glob("*.txt"),
    ]
)
