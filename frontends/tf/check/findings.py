"""What `jaxtribute check` says about a line."""

import dataclasses
import enum


class Kind(enum.StrEnum):
    """Kinds of findings, the worst first."""

    UNREADABLE = "unreadable"
    MISSING = "missing"
    OPTIONAL = "optional"  # missing, and the script goes on without it
    CHANGE = "change"
    DIFFERS = "differs"
    NO_EFFECT = "no effect"
    CARE = "care"


# With one of these a script does not run.
FAILING = frozenset({Kind.UNREADABLE, Kind.MISSING})


@dataclasses.dataclass(frozen=True)
class Finding:
    """A finding.

    Attributes:
        kind: of it.
        line: from 1; of a notebook, in the code of all its cells.
        name: what it is about, such as `"tf.Session"`; empty for what is not about a name.
        text: what to know, or to do.
    """

    kind: Kind
    line: int
    name: str
    text: str
