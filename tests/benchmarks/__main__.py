"""Runs the benchmarks, and writes what they measured into docs/benchmarks.

python -m tests.benchmarks                    all
python -m tests.benchmarks mnist_fit startup  some
python -m tests.benchmarks --pages            no measurement: the pages of what was measured before
python -m tests.benchmarks chaos --runs 60    no measurement: training that is disturbed at random
python -m tests.benchmarks attack             no measurement: strangers at the ports of a job
python -m tests.benchmarks fuzz               no measurement: odd input to all that reads some
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from rich.console import Console

from tests.benchmarks import attack, chaos, gpu_steps, planned_scaling, report, scaling
from tests.benchmarks.compare import compare
from tests.benchmarks.digits import write_digits
from tests.benchmarks.estimator_start import estimator_start
from tests.benchmarks.fuzz import command as fuzz
from tests.benchmarks.startup import startup
from tests.benchmarks.workloads import WORKLOADS

ROOT = Path(__file__).parents[2]
# Programs of one process, with the numbers of devices that they run on, or of rows.
OVERHEADS = {
    "engine_overhead": ["1", "2", "8"],
    "step_overhead": ["1", "2", "8"],
    "tape_overhead": ["2"],
    "fit_overhead": ["1", "2"],
    "trace_overhead": ["1", "2"],
    "checkpoint_stall": ["1", "2"],
    "server_traffic": ["10000", "1000000"],
    "table_size": ["1", "2"],
}


def main() -> None:
    """Runs the benchmarks that were asked for."""
    trials = {"chaos": chaos.main, "attack": attack.main, "fuzz": fuzz.main}
    if sys.argv[1:2] and sys.argv[1] in trials:
        sys.exit(trials[sys.argv[1]](sys.argv[2:]))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [*WORKLOADS, "startup", "estimator_start", "scaling", "planned_scaling"]
    names += ["gpu_steps", *OVERHEADS]
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(names)}")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "benchmarks")
    parser.add_argument("--peers", type=Path, default=ROOT / ".venv-peers" / "bin" / "python")
    parser.add_argument(
        "--estimator", type=Path, default=ROOT / ".venv-estimator" / "bin" / "python"
    )
    parser.add_argument(
        "--pages", action="store_true", help="only write the pages, of what was measured before"
    )
    arguments = parser.parse_args()
    if arguments.pages:
        _write_pages(arguments.output)
        return
    unknown = set(arguments.names) - set(names)
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}; choose from {', '.join(names)}")
    for path in (arguments.peers, arguments.estimator):
        if arguments.names != ["gpu_steps"] and not path.exists():
            parser.error(f"there is no {path}; `make bench` makes it")
    arguments.output.mkdir(parents=True, exist_ok=True)
    console, ours = Console(), _machine()
    with tempfile.TemporaryDirectory() as directory:
        digits = f"{directory}/digits.npz"
        write_digits(digits)
        for name in arguments.names or names:
            console.rule(WORKLOADS[name].title if name in WORKLOADS else name)
            machine = ours
            if name in WORKLOADS:
                workload = WORKLOADS[name]
                peers = arguments.estimator if workload.has_estimators else arguments.peers
                machine = f"{ours}; {_versions(peers)}"
                rows = list(compare(workload, str(peers), digits))
            elif name == "startup":
                rows = list(startup())
            elif name == "estimator_start":
                machine = f"{ours}; {_versions(arguments.estimator)}"
                rows = list(estimator_start(str(arguments.estimator)))
            elif name == "scaling":
                machine = f"{ours}; {_versions(arguments.peers)}"
                rows = list(scaling.scaling(str(arguments.peers), digits))
                scaling.draw(arguments.output / "scaling.svg", rows)
            elif name == "planned_scaling":
                rows = list(planned_scaling.planned_scaling())
                if not rows:  # no compiler is here
                    continue
                planned_scaling.draw(arguments.output / "planned_scaling.svg", rows)
            elif name == "gpu_steps":
                gpu = gpu_steps.find_gpu()
                if not gpu:
                    continue
                machine = f"{gpu}; {ours}; {_versions(Path(sys.executable))}"
                rows = list(gpu_steps.gpu_steps(digits))
            else:
                rows = [row for variant in OVERHEADS[name] for row in _run(name, variant)]
            report.write(arguments.output / f"{name}.json", name, machine, rows)
            console.print(report.table(rows))
    _write_pages(arguments.output)
    console.print(f"Done on {ours}; written to {arguments.output}")


def _write_pages(output: Path) -> None:
    report.write_comparison(output, [*WORKLOADS, "startup", "estimator_start"])
    for name in OVERHEADS:
        report.write_page(output, name)
    report.write_page(output, "scaling", scaling.ABOUT)
    report.write_page(output, "planned_scaling", planned_scaling.ABOUT)
    report.write_page(output, "gpu_steps", gpu_steps.about)


def _machine() -> str:
    versions = ", ".join(f"{name} {version(name)}" for name in ("jax", "flax", "keras"))
    return (
        f"{os.cpu_count()} CPU cores ({platform.machine()}), "
        f"Python {platform.python_version()}, {versions}"
    )


def _versions(python: Path) -> str:
    """What the peers are; without PyTorch the comparisons with TensorFlow run all the same."""
    code = (
        "from importlib.metadata import distributions; found = {d.name: d.version for d in distributions()}; "
        "print(*[f'{n} {found[n]}' for n in names if n in found], sep=', ')"
    )
    names = ["tensorflow_cpu", "tf_keras", "torch"]
    command = [str(python), "-c", f"names = {names}; {code}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _run(name: str, variant: str) -> list[dict[str, object]]:
    """Runs one variant in a fresh process, because device counts are fixed per process."""
    command = [sys.executable, "-m", f"tests.benchmarks.{name}", variant]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return report.read_rows(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    main()
