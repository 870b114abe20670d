"""What a script does besides using names, and what comes of it here or on several devices."""

import ast
import re
from collections.abc import Iterable, Iterator

from frontends.tf.check import facts, names
from frontends.tf.check.findings import Finding, Kind
from frontends.tf.check.fixes import IMPORT_KERAS, stands_before
from frontends.tf.check.uses import Use, Uses

# Packages that compute with TensorFlow itself, and what may stand for some.
_ON_TENSORFLOW = {
    "horovod": "Use tf.distribute.MultiWorkerMirroredStrategy",
    "official": "",
    "tensorflow_addons": "Keras 3 has most of it: see docs/guide/porting.md",
    "tensorflow_decision_forests": "",
    "tensorflow_federated": "",
    "tensorflow_gan": "",
    "tensorflow_hub": "Use weights in Keras's format, keras.applications or KerasHub",
    "tensorflow_io": "",
    "tensorflow_model_optimization": "",
    "tensorflow_models": "",
    "tensorflow_probability": "Its substrates.jax computes with JAX",
    "tensorflow_ranking": "",
    "tensorflow_recommenders": "",
    "tensorflow_text": "",
    "tensorflow_transform": "",
    "tf_agents": "",
    "tf_keras": "Use tf.keras, which is Keras 3",
    "tf_slim": "",
}
_ON_JAX = ("tensorflow_probability.substrates.jax", "horovod.torch")

# Variables that only TensorFlow reads, and what to do instead.
_VARIABLES = {
    "TF_CUDNN_DETERMINISTIC": "tf.config.experimental.enable_op_determinism()",
    "TF_DETERMINISTIC_OPS": "tf.config.experimental.enable_op_determinism()",
    "TF_ENABLE_AUTO_MIXED_PRECISION": "tf.keras.mixed_precision.set_global_policy(...)",
    "TF_ENABLE_ONEDNN_OPTS": "",
    "TF_FORCE_GPU_ALLOW_GROWTH": "XLA_PYTHON_CLIENT_PREALLOCATE=false",
    "TF_FORCE_UNIFIED_MEMORY": "",
    "TF_GPU_ALLOCATOR": "XLA_PYTHON_CLIENT_ALLOCATOR",
    "TF_GPU_THREAD_COUNT": "",
    "TF_GPU_THREAD_MODE": "",
    "TF_NUM_INTEROP_THREADS": "",
    "TF_NUM_INTRAOP_THREADS": "",
    "TF_USE_LEGACY_KERAS": "",
    "TF_XLA_FLAGS": "XLA_FLAGS",
}
_NOT_KERAS_2 = "changes nothing here: tf.keras is Keras 3"
_STRATEGY = ".run"
_DROPOUT = {False: "tf.nn.dropout", True: "tf.compat.v1.nn.dropout"}
_SERVING = re.compile("serving_input_receiver|ServingInputReceiver")
_UNFED = (
    "There are no sessions to feed it. Make it a parameter of a function, def step(x): ..., which @tf.function compiles; or write a "
    "model function, which gets features and labels, and train a tf.estimator.Estimator."
)


def findings_in(script: Uses) -> Iterator[Finding]:
    r"""Lists what needs care in a script.

    Args:
        script: what it uses.

    Examples:
        >>> from frontends.tf.check.uses import uses_in
        >>> script = uses_in("import os\nos.environ['TF_XLA_FLAGS'] = '--tf_xla_auto_jit=2'")
        >>> [(one.line, one.text) for one in findings_in(script)]
        [(2, 'only TensorFlow reads it; here it is XLA_FLAGS')]
    """
    yield from _imports(script)
    yield from _environment(script)
    for use in script.uses:
        yield from _devices(use)
    yield from _traced(script)
    yield from _placeholders(script)
    yield from _dropout(script)


def _imports(script: Uses) -> Iterator[Finding]:
    ours = min((one.statement.lineno for one in script.imports), default=0)
    for node in script.nodes:
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module]
            modules += [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        if any(module.startswith(_ON_JAX) for module in modules):
            continue
        root = modules[0].split(".")[0]
        if root in _ON_TENSORFLOW:
            instead = _ON_TENSORFLOW[root]
            text = "works with TensorFlow's own tensors and variables, not with those of this tf"
            yield Finding(Kind.CARE, node.lineno, root, f"{text}. {instead}".rstrip(". "))
        # Of those that can be changed, the first is.
        if root in IMPORT_KERAS and node.lineno <= ours and not stands_before(node, ours):
            text = f"import it after tf (line {ours}), which has it take JAX"
            yield Finding(Kind.CARE, node.lineno, f"import {root}", text)


def _environment(script: Uses) -> Iterator[Finding]:
    for node in script.nodes:
        for name, value in _set_in_environment(node):
            line = getattr(value, "lineno", 1)
            if name == "CUDA_VISIBLE_DEVICES":
                text = "overrides the GPUs that `jaxtribute launch` gives each task"
                yield Finding(Kind.CARE, line, name, text)
            elif name == "KERAS_BACKEND" and _constant(value) not in (None, "jax", "tensorflow"):
                text = f"tf.keras runs on JAX alone: {_constant(value)!r} is an ImportError"
                yield Finding(Kind.CARE, line, name, text)
            elif name == "TF_USE_LEGACY_KERAS":
                yield Finding(Kind.CARE, line, name, _NOT_KERAS_2)
            elif name in _VARIABLES:
                instead = _VARIABLES[name]
                text = "only TensorFlow reads it" + (f"; here it is {instead}" if instead else "")
                yield Finding(Kind.CARE, line, name, text)


def _set_in_environment(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Lists the variables of the environment that a statement sets."""
    match node:
        case ast.Assign(targets, value):
            for target in targets:
                match target:
                    case ast.Subscript(ast.Attribute(_, "environ"), ast.Constant(str(name))):
                        yield name, value
        case ast.Call(
            ast.Attribute(ast.Attribute(_, "environ"), "setdefault") | ast.Attribute(_, "putenv"),
            [ast.Constant(str(name)), value],
        ):
            yield name, value


def _constant(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else None


def _devices(use: Use) -> Iterator[Finding]:
    call, path = use.call, names.path_in_2(use.found)
    if call is None:
        return
    if path == "tf.device":
        name = _constant(call.args[0]) if call.args else None
        if isinstance(name, str) and "/job:ps" in name:
            text = f"{name!r} is a ValueError outside of programs: code runs in its own process"
        else:
            text = "has no effect in tf.function and strategy.run; outside, arrays that are made go to that device if it exists"
        yield Finding(Kind.CARE, use.line, path, text)
    if path.endswith("MirroredStrategy") and "MultiWorker" not in path:
        given = [word.value for word in call.keywords if word.arg == "devices"] or call.args[:1]
        for devices in given:
            if isinstance(devices, (ast.List, ast.Tuple)) and devices.elts:
                count = len(devices.elts)
                text = f"trains on {count} device{'s' * (count > 1)}, whatever there are: without devices= on all"
                yield Finding(Kind.CARE, use.line, path, text)


def _traced(script: Uses) -> Iterator[Finding]:
    """Finds Python's effects in functions that strategy.run compiles where TensorFlow runs them as they are."""
    functions = {
        node.name: node
        for node in script.nodes
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    for use in script.uses:
        path = names.path_in_2(use.found)
        if use.call is None or not path.endswith(_STRATEGY):
            continue
        if not path.startswith("tf.distribute.") or _is_compiled(use.within):
            continue
        match use.call.args:
            case [ast.Name(name), *_] if name in functions:
                yield from _effects(functions[name], use.line)


def _placeholders(script: Uses) -> Iterator[Finding]:
    """Finds placeholders that nobody feeds: only a function that describes what an estimator serves makes some."""
    if any(_SERVING.search(use.found.path) for use in script.uses):
        return
    for use in script.uses:
        if names.path_in_2(use.found) == "tf.placeholder":
            yield facts.missing(use.found.path, use.line, _UNFED, use.guard)


def _dropout(script: Uses) -> Iterator[Finding]:
    """Finds what turns into its opposite if the script is for the other version: the second argument of tf.nn.dropout."""
    version = script.version
    if version.is_certain:
        return
    for use in script.uses:
        if use.call is None or use.found.path != _DROPOUT[version.is_1]:
            continue
        match use.call.args:
            case [_, ast.Constant(0.5), *_] | [ast.Starred(), *_] | [_, ast.Starred(), *_]:
                pass
            case [_, second, *_]:
                share = ast.unparse(second)
                if version.is_1:
                    text = (
                        f"read as TensorFlow 1's, which keeps {share}: for TensorFlow 2's, which drops it, write "
                        f"rate={share}"
                    )
                else:
                    text = (
                        f"read as TensorFlow 2's, which drops {share}: for TensorFlow 1's, which keeps it, write "
                        f"rate=1 - {share}. No name here tells which version this is for"
                    )
                yield Finding(Kind.CARE, use.line, use.found.path, text)


def _is_compiled(functions: Iterable[ast.AST]) -> bool:
    return any("function" in ast.unparse(one) for each in functions for one in _decorators(each))


def _decorators(node: ast.AST) -> list[ast.expr]:
    return getattr(node, "decorator_list", [])


def _effects(function: ast.FunctionDef | ast.AsyncFunctionDef, line: int) -> Iterator[Finding]:
    for node in ast.walk(function):
        match node:
            case ast.Call(ast.Name("print")):
                text = f"strategy.run (line {line}) traces {function.name} once, so it prints once: use tf.print"
                yield Finding(Kind.CARE, node.lineno, "print", text)
            case ast.Call(ast.Attribute(_, "numpy"), []):
                text = f"strategy.run (line {line}) traces {function.name}: no array has a value there. Return it instead"
                yield Finding(Kind.CARE, node.lineno, ".numpy()", text)
