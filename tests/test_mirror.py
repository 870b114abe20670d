"""The tests mirror the tree: `spmd/input/prefetch.py` is tested in `tests/spmd/input/test_prefetch.py`.

A module without behaviour needs no tests: names, constants, types, protocols. Its functions, if it has some, do
nothing. A folder of tests may test a whole package: `tests/spmd/test_cluster.py` that of `spmd/cluster/__init__.py`.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Modules with behaviour that have no test file of their own yet: tests of their callers cover them.
WITHOUT = {
    "frontends/tf/autograph/experimental.py",
    "frontends/tf/autograph/status.py",
    "frontends/tf/autograph/symbols.py",
    "frontends/tf/data/base.py",
    "frontends/tf/distribute/cluster_resolver/cloud_tpu.py",
    "frontends/tf/distribute/cluster_resolver/google_api.py",
    "frontends/tf/distribute/preemption_watcher.py",
    "frontends/tf/distribute/standalone/calls.py",
    "frontends/tf/distribute/standalone/values.py",
    "frontends/tf/keras/_added.py",
    "frontends/tf/keras/_artifact.py",
    "frontends/tf/keras/_dataset_adapter.py",
    "frontends/tf/keras/_input_specs.py",
    "frontends/tf/keras/_namespace.py",
    "frontends/tf/keras/_outputs.py",
    "frontends/tf/keras/_select.py",
    "frontends/tf/keras/_standalone_fit.py",
    "frontends/tf/saved_model/saving.py",
    "frontends/tf/train/_explanation.py",
    "spmd/checkpoint/errors.py",
    "spmd/checkpoint/restoring.py",
    "spmd/export/endpoint.py",
    "spmd/input/sources/arrays.py",
    "spmd/input/sources/grain_dataset.py",
    "spmd/input/sources/iterables.py",
    "spmd/input/sources/py_dataset.py",
    "spmd/input/sources/random_access.py",
    "spmd/input/sources/tf_data.py",
    "spmd/integrations/keras/batch_functions.py",
    "spmd/integrations/keras/replica_steps.py",
    "spmd/lowering/_compiler_main.py",
    "spmd/lowering/convolution.py",
    "spmd/servers/remote/_node_main.py",
    "spmd/servers/remote/gang.py",
    "spmd/servers/remote/member.py",
    "spmd/servers/remote/worker.py",
    "spmd/state/adapter.py",
    "spmd/state/observers.py",
    "spmd/state/table.py",
    "spmd/step/arguments.py",
    "spmd/step/build.py",
    "spmd/step/options.py",
    "spmd/step/runner.py",
}
# Test files of what no single module does.
WHOLE = {
    "frontends/guides/test_guides.py": "scripts, as users have them",
    "frontends/seeds/test_seeds.py": "scripts of TensorFlow's documents",
    "frontends/tf/autograph/test_programs.py": "random programs, interpreted and compiled",
    "frontends/tf/data/test_caching.py": "tf.data's operations: their machinery is spmd.input.pipeline",
    "frontends/tf/data/test_file_shards.py": "tf.data's operations: their machinery is spmd.input.pipeline",
    "frontends/tf/data/test_generator.py": "tf.data's operations: their machinery is spmd.input.pipeline",
    "frontends/tf/data/test_last_maps.py": "tf.data's operations: their machinery is spmd.input.pipeline",
    "frontends/tf/data/test_map_function.py": "tf.data's operations: their machinery is spmd.input.pipeline",
    "frontends/tf/data/test_model.py": "chains of operations against lists",
    "frontends/tf/distribute/coordinator/test_failures.py": "tasks that die or freeze",
    "frontends/tf/distribute/coordinator/test_kill_series.py": "tasks killed at random moments",
    "frontends/tf/distribute/coordinator/test_remote.py": "tasks in processes of their own",
    "frontends/tf/distribute/coordinator/test_strangers.py": "who may connect to tasks",
    "frontends/tf/distribute/test_preemption_docs.py": "the scripts of a page of the documentation",
    "frontends/tf/distribute/test_properties.py": "what holds for any rows and replicas",
    "frontends/tf/distribute/test_run_steps.py": "several modules: loops of steps under a strategy",
    "frontends/tf/distribute/test_verify.py": "spmd.verify on TensorFlow's scripts",
    "frontends/tf/keras/test_callbacks.py": "Keras's own callbacks under a strategy",
    "frontends/tf/keras/test_custom_loops.py": "loops by hand under each strategy",
    "frontends/tf/keras/test_data_sources.py": "every kind of source in fit",
    "frontends/tf/keras/test_flax_layer.py": "a Flax module inside Keras",
    "frontends/tf/keras/test_keras.py": "the namespace tf.keras",
    "spmd/checkpoint/test_docs.py": "the scripts of a page of the documentation",
    "spmd/checkpoint/test_exit.py": "what a script leaves when it ends",
    "spmd/checkpoint/test_keras_training.py": "training that goes on from a checkpoint",
    "spmd/checkpoint/test_nnx_training.py": "training that goes on from a checkpoint",
    "spmd/launch/test_docs.py": "the scripts of a page of the documentation",
    "spmd/launch/test_parameter_servers.py": "jobs with parameter servers, on Ray",
    "spmd/plan/test_programs.py": "what XLA makes of the examples for a TPU and for GPUs",
    "spmd/step/test_parity.py": "steps against loops by hand",
    "frontends/tf/distribute/coordinator/test_first_use.py": "what workers first get of a program",
    "frontends/tf/estimator/test_strategies.py": "estimators under each strategy",
    "frontends/tf/estimator/test_seed.py": "programs of a document, as they stand",
    "spmd/test_imports.py": "what importing does",
    "spmd/topology/test_many_devices.py": "the engine on more devices than cores",
}


def _has_behaviour(path: Path) -> bool:
    return any(
        isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and any(not _does_nothing(statement) for statement in node.body)
        for node in ast.walk(ast.parse(path.read_text()))
    )


def _does_nothing(statement: ast.stmt) -> bool:
    """Tells whether it is a docstring, `...` or `pass`."""
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _modules() -> dict[str, Path]:
    """The modules and packages, by the test file that belongs to each."""
    found = {}
    for package in ("spmd", "frontends"):
        for path in (ROOT / package).rglob("*.py"):
            subject = path.parent if path.name == "__init__.py" else path.with_suffix("")
            place = subject.parent.relative_to(ROOT)
            found[f"{place}/test_{subject.name.lstrip('_')}.py"] = path
    return found


def test_every_module_with_behaviour_has_its_test_file() -> None:
    missing = {
        str(path.relative_to(ROOT))
        for test, path in _modules().items()
        if path.name != "__init__.py"
        and not (ROOT / "tests" / test).exists()
        and _has_behaviour(path)
    }
    assert sorted(missing) == sorted(WITHOUT)


def test_every_test_file_has_its_module() -> None:
    modules = _modules()
    lonely = {
        str(path.relative_to(ROOT / "tests"))
        for package in ("spmd", "frontends")
        for path in (ROOT / "tests" / package).rglob("test_*.py")
        if str(path.relative_to(ROOT / "tests")) not in modules
    }
    assert sorted(lonely) == sorted(WHOLE)


def test_a_module_of_names_has_no_behaviour(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text('A = 1\nclass B:\n    def b(self) -> int:\n        """It."""\n        ...\n')
    assert not _has_behaviour(module)
    module.write_text("def f():\n    return 1\n")
    assert _has_behaviour(module)


def test_every_example_has_its_test() -> None:
    tests = "".join(path.read_text() for path in (ROOT / "tests" / "examples").glob("test_*.py"))
    examples = [path.name for path in (ROOT / "examples").glob("[!_]*.py")]
    assert [name for name in examples if name not in tests] == []
