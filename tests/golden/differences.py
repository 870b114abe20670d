"""The stated differences: where ours is not what TensorFlow does, what it does instead, and why.

They stand in `differences.toml`. Each names cases by patterns (`scenario@setting/case`, `*` for
anything), what ours does in all of them (`error`, the class of an exception, and words of its `message`;
`value` or `results`, JSON in the encoding of the recording; or `setting`, another one whose recording
ours gives), and the reason.
"""

import dataclasses
import json
import tomllib
from pathlib import Path
from typing import Any

from tests.golden import recording
from tests.golden.compare import is_error, matches, same

_FILE = Path(__file__).parent / "differences.toml"


@dataclasses.dataclass(frozen=True)
class Difference:
    """One stated difference.

    Attributes:
        title: what it is about, in a few words.
        topic: section of docs/compat.md.
        cases: patterns.
        ours: what ours does, in words.
        why: the reason.
        error: name of the exception's class, if ours raises one.
        message: words at the beginning of its message, so that another one of this class is not taken for it.
        value: the result as JSON, if it is the same in all cases.
        results: else, the result for each pattern of cases.
        setting: else, the setting in which TensorFlow gives what ours gives in all of them.
        uses: names whose uses it concerns, for `jaxtribute check`; `(+parameter)` behind a name stands for calls that pass
            the parameter, `(-parameter)` for those that do not.
    """

    title: str
    topic: str
    cases: tuple[str, ...]
    ours: str
    why: str
    error: str | None = None
    message: str | None = None
    value: str | None = None
    results: dict[str, str] | None = None
    setting: str | None = None
    uses: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        stated = (self.error, self.value, self.results, self.setting)
        if sum(one is not None for one in stated) != 1:
            raise ValueError(f"{self.title}: state one of error, value, results, setting")
        if (self.error is None) != (self.message is None):
            raise ValueError(f"{self.title}: state an error and words of its message together")

    def holds(self, case: str, result: Any) -> bool:
        """Tells whether ours does what is stated."""
        if self.error is not None:
            return (
                is_error(result)
                and self.error in (result["error"], *result["bases"])
                and self.message in result["message"]
            )
        if self.setting is not None:
            run, name = case.split("/", 1)
            there = f"{run.partition('@')[0]}@{self.setting}"
            return same(result, recording.load()[there][name])
        expected = self.value
        if self.results is not None:
            found = [v for pattern, v in self.results.items() if matches(pattern, case)]
            if len(found) != 1:
                return False
            expected = found[0]
        return not is_error(result) and same(result, json.loads(expected))


def load() -> list[Difference]:
    """Reads the stated differences."""
    stated = tomllib.loads(_FILE.read_text())
    return [
        Difference(**one | {key: tuple(one.get(key, ())) for key in ("cases", "uses")})
        for one in stated["difference"]
    ]


def find(stated: list[Difference], case: str) -> Difference | None:
    """Finds the one that a case belongs to."""
    found = [one for one in stated if any(matches(pattern, case) for pattern in one.cases)]
    if len(found) > 1:
        raise ValueError(f"{case} belongs to several differences: {[one.title for one in found]}")
    return found[0] if found else None
