"""Which of TensorFlow's names the repositories in a folder use, and which of these exist here.

    python -m tests.usage FOLDER                    # prints the counts
    python -m tests.usage FOLDER --tsv names.tsv    # and writes a line for each name

Every folder in FOLDER is a repository. The names are those that `jaxtribute check` finds.
"""

import argparse
import dataclasses
import sys
from collections.abc import Iterable
from pathlib import Path

from frontends.tf.check.findings import Kind
from frontends.tf.check.projects import in_versions_of_their_projects
from frontends.tf.check.report import Report, report_on
from frontends.tf.check.sources import files_in


@dataclasses.dataclass
class Name:
    """How a name is used.

    Attributes:
        repositories: those that use it.
        files: likewise.
        distributing: files that use it, and tf.distribute.
        uses: in all files.
        is_present: whether it exists here.
    """

    repositories: set[str]
    files: int = 0
    distributing: int = 0
    uses: int = 0
    is_present: bool = True


@dataclasses.dataclass
class Usage:
    """What the repositories of a folder use.

    Attributes:
        names: by name, without `tf.`.
        scripts: files that use TensorFlow.
        complete: those whose names all exist here.
        distributing: files that use tf.distribute.
        distributing_complete: those whose names all exist here.
        unreadable: files that are not Python 3.
    """

    names: dict[str, Name] = dataclasses.field(default_factory=dict)
    scripts: int = 0
    complete: int = 0
    distributing: int = 0
    distributing_complete: int = 0
    unreadable: int = 0

    def add(self, repository: str, report: Report) -> None:
        """Adds what a file uses."""
        if not report.is_tensorflow:
            return
        if any(one.kind == Kind.UNREADABLE for one in report.findings):
            self.unreadable += 1
            return
        distributes = any(".distribute." in name for name in report.names)
        absent = report.names_with(Kind.MISSING) | report.names_with(Kind.OPTIONAL)
        self.scripts += 1
        self.complete += report.runs
        self.distributing += distributes
        self.distributing_complete += distributes and report.runs
        for name, uses in report.names.items():
            one = self.names.setdefault(name.removeprefix("tf."), Name(set()))
            one.repositories.add(repository)
            one.files += 1
            one.distributing += distributes
            one.uses += uses
            one.is_present = name not in absent

    def table(self) -> str:
        """Writes a line for each name, the most used ones first."""
        ordered = sorted(
            self.names.items(),
            key=lambda pair: (-len(pair[1].repositories), -pair[1].files, pair[0]),
        )
        lines = ["repos\tfiles\tdistribute_files\tuses\tpresent\tsymbol"]
        for name, one in ordered:
            counts = (len(one.repositories), one.files, one.distributing, one.uses)
            present = "yes" if one.is_present else "no"
            lines.append("\t".join([*map(str, counts), present, name]))
        return "\n".join(lines) + "\n"

    def summary(self) -> str:
        """Says how much of it exists here."""
        names = self.names.values()
        return "\n".join(
            [
                f"{self.scripts} files with TensorFlow (and {self.unreadable} that are not Python 3)",
                f"names, by uses: {_share(names, 'uses')}",
                f"names, by files: {_share(names, 'files')}",
                f"files that find all names: {_percent(self.complete, self.scripts)}",
                "files with tf.distribute that find all names: "
                f"{_percent(self.distributing_complete, self.distributing)}",
            ]
        )


def count(folder: Path) -> Usage:
    """Counts what the repositories in a folder use."""
    usage = Usage()
    for repository in sorted(path for path in folder.iterdir() if path.is_dir()):
        for report in in_versions_of_their_projects([*map(report_on, files_in([repository]))]):
            usage.add(repository.name, report)
    return usage


def _share(names: Iterable[Name], weight: str) -> str:
    listed = list(names)
    present = sum(getattr(one, weight) for one in listed if one.is_present)
    return _percent(present, sum(getattr(one, weight) for one in listed))


def _percent(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / max(whole, 1):.1f} %)"


def main(words: list[str]) -> int:
    """Counts, and prints."""
    parser = argparse.ArgumentParser(
        prog="tests.usage", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("folder", type=Path, help="a folder of repositories")
    parser.add_argument("--tsv", type=Path, metavar="FILE", help="write a line for each name")
    options = parser.parse_args(words)
    if not options.folder.is_dir():
        parser.error(f"there is no folder {options.folder}")
    usage = count(options.folder)
    if options.tsv is not None:
        options.tsv.write_text(usage.table())
    print(usage.summary())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
