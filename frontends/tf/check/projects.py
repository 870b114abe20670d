"""Which version of TensorFlow modules are for that belong together: a helper of a project for TensorFlow 1 may use no name that tells.

train.py    import nets; tf.logging.info("...")         # only TensorFlow 1 has tf.logging
nets.py     tf.nn.dropout(x, keep_prob)                 # both versions have it; here it keeps keep_prob
"""

import dataclasses
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from frontends.tf.check.own_modules import own_modules
from frontends.tf.check.report import Report, report_on


def in_versions_of_their_projects(reports: Sequence[Report]) -> list[Report]:
    """Reads again the modules that belong to a project for TensorFlow 1, and do not tell themselves which version they are for.

    Those are the modules that a module for TensorFlow 1 imports, or that import one, directly or through others.

    Args:
        reports: on files, each for itself.
    """
    by_path = {report.path.resolve(): report for report in reports}
    if not any(map(_is_open, reports)) or not any(one.version.is_1 for one in reports):
        return list(reports)
    reasons = _reasons(by_path)
    return [
        report_on(report.path, reasons[report.path.resolve()])
        if _is_open(report) and report.path.resolve() in reasons
        else report
        for report in reports
    ]


@dataclasses.dataclass(frozen=True)
class _Step:
    """A module, the one from which it was reached, and the module for TensorFlow 1 where that began."""

    path: Path
    origin: Path
    first: Path
    is_imported: bool


def _reasons(by_path: Mapping[Path, Report]) -> dict[Path, str]:
    """Says of modules why they are for TensorFlow 1."""
    imports = {path: own_modules(report, by_path) for path, report in by_path.items()}
    importers: dict[Path, list[Path]] = defaultdict(list)
    for path, imported in imports.items():
        for each in imported:
            importers[each].append(path)
    starts = [path for path, report in by_path.items() if report.version.is_1]
    queue = deque(_Step(path, path, path, is_imported=False) for path in starts)
    reasons = dict.fromkeys(starts, "")
    while queue:
        step = queue.popleft()
        around = [(path, True) for path in imports[step.path]]
        # What has no TensorFlow, and what scripts of both versions import, belongs to many programs.
        is_shared = step.is_imported and (
            not by_path[step.path].is_tensorflow
            or any(_is_of_another(by_path[path]) for path in importers[step.path])
        )
        around += [(path, False) for path in importers[step.path] if not is_shared]
        for path, is_imported in around:
            if path not in reasons and not _is_of_another(by_path[path]):
                queue.append(_Step(path, step.path, step.first, is_imported))
                reasons[path] = _reason(queue[-1], by_path)
    return reasons


def _reason(step: _Step, by_path: Mapping[Path, Report]) -> str:
    origin = by_path[step.origin].path
    relation = f"{origin} imports it" if step.is_imported else f"it imports {origin}"
    first = by_path[step.first]
    uses = first.version.because.removeprefix("it ")
    if step.origin != step.first:
        uses = f"belongs to {first.path}, which {uses}"
    return f"{relation}, {'and' if step.is_imported else 'which'} {uses}"


def _is_open(report: Report) -> bool:
    return report.is_tensorflow and report.source is not None and not report.version.is_certain


def _is_of_another(report: Report) -> bool:
    return report.version.is_certain and not report.version.is_1
