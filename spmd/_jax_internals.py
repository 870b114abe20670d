"""The one file that touches JAX internals; tests/spmd/test_jax_internals.py runs on every version.

Each function says which internal it stands for.
"""

import contextlib
import contextvars
import dataclasses
import functools
import logging
from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import jax
import numpy as np
from jax._src import ad_util, compiler, config, core, distributed, hardware_utils, xla_bridge
from jax._src.export import shape_poly
from jax._src.interpreters import mlir
from jax._src.interpreters import partial_eval as pe
from jax._src.lib import (
    _jax,  # pyright: ignore[reportPrivateImportUsage, reportPrivateUsage]
    xla_client,  # pyright: ignore[reportPrivateImportUsage]
)
from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from jax.extend.mlir import ir

from spmd.source_lines import is_user_file

_LOG = logging.getLogger("spmd.lowering")

# Operations that are run to find a constant, and the elements that one of them may take: shapes are made of fewer.
_MOST_FOLDED, _LARGEST_FOLDED = 64, 1 << 16
# Which only change what replicas are known to share.
_CASTS = frozenset({"pvary", "pcast"})
_NOT_TO_REPEAT = frozenset(
    {"device_put", "pure_callback", "io_callback", "debug_callback", "rng_uniform"}
)
# Part of the name of each custom call into Python; the function exists in this process only.
_CALLBACK = b"_python_cpu_callback"
_LINEAR = frozenset({"add", "sub", "mul", "neg", "convert_element_type"})


@dataclasses.dataclass(frozen=True, eq=False)
class BoundOperation:
    """An operation of JAX; called with values, it runs on them.

    Attributes:
        params: besides its operands.
    """

    _primitive: Any
    params: Mapping[str, Any]

    def __call__(self, *values: Any) -> Any:
        """Runs the operation in the trace of the moment."""
        return self._primitive.bind(*values, **self.params)

    @property
    def name(self) -> str:
        """Name of the operation."""
        return str(self._primitive.name)

    @property
    def program(self) -> ClosedJaxpr | None:
        """The program that a call of a compiled function runs; None of another operation."""
        return self.params["jaxpr"] if self.name in ("jit", "pjit") else None

    @property
    def identity(self) -> Hashable | None:
        """What tells it from operations that compute something else; None if that cannot be told."""
        if "subfuns" in self.params:
            return None
        identity = self._primitive, tuple(sorted(self.params.items(), key=lambda item: item[0]))
        try:
            hash(identity)
        except TypeError:
            return None
        return identity

    @property
    def is_repeatable(self) -> bool:
        """Whether it may run again: it does not call Python, draw, or go to another device."""
        programs = [one for one in self.params.values() if isinstance(one, (Jaxpr, ClosedJaxpr))]
        return self.name not in _NOT_TO_REPEAT and not any(
            one.effects or _is_not_to_repeat(one) for one in programs
        )


def _is_not_to_repeat(program: Any) -> bool:
    return any(
        equation.primitive.name in _NOT_TO_REPEAT
        or any(map(_is_not_to_repeat, programs_in(equation.params)))
        for equation in program.eqns
    )


Operate = Callable[[BoundOperation, Sequence[Any]], Any]


def backend_is_running() -> bool:
    """Tells whether JAX has started a backend, without starting one.

    Stands for `jax._src.xla_bridge.backends_are_initialized`, which has no public name.
    """
    return xla_bridge.backends_are_initialized()


def tpu_chips() -> int:
    """Counts the TPU chips on this machine's bus, without starting a backend.

    Stands for `jax._src.hardware_utils.num_available_tpu_chips_and_device_id`, which has no public name.
    """
    return hardware_utils.num_available_tpu_chips_and_device_id()[0]


class CompileRequest(NamedTuple):
    """What XLA is to compile.

    Attributes:
        program: StableHLO, as MLIR's bytecode.
        options: XLA's, as a protocol buffer.
        devices: ids of the devices that run it.
    """

    program: bytes
    options: bytes
    devices: Sequence[int]


CompileFirst = Callable[[CompileRequest], bytes | None]


class _Offer:
    """State of a block of `offering_compilations`: its function, and the executable that came of it last.

    Serializing an executable that was deserialized loses some of its functions, so that the cache gets the bytes.
    """

    def __init__(self, compile_first: CompileFirst) -> None:
        self.compile_first = compile_first
        self.loaded: Any = None
        self.serialized = b""

    def serialize(self) -> bytes:
        """Stands for the method of an executable."""
        return self.serialized


_offer: contextvars.ContextVar[_Offer | None] = contextvars.ContextVar("offer", default=None)
# What the two functions of JAX were before they were replaced.
_originals: dict[str, Any] = {}


@contextlib.contextmanager
def offering_compilations(compile_first: CompileFirst) -> Generator[None]:
    """Offers each program that this thread compiles for processors in a `with` block to a function first.

    Programs found in JAX's cache are not compiled, and not offered; nor are those that call Python.

    Stands for `jax._src.compiler.backend_compile_and_load` and `_cache_write`, which have no public names. A version
    of JAX without them compiles as ever.

    Args:
        compile_first: returns what `compile_to_bytes` makes of the request, in this process or another one. None, or
            an error, has the program compiled here.
    """
    if not _originals:
        for name, function in (
            ("backend_compile_and_load", _compile_and_load),
            ("_cache_write", _write_to_cache),
        ):
            if hasattr(compiler, name):
                _originals[name] = getattr(compiler, name)
                setattr(compiler, name, function)
    token = _offer.set(_Offer(compile_first))
    try:
        yield
    finally:
        _offer.reset(token)


def _compile_and_load(
    backend: Any, module: Any, devices: Any, options: Any, *others: Any, **named: Any
) -> Any:
    offer = _offer.get()
    if offer is not None and backend.platform == "cpu" and not any(others) and not named:
        try:
            program = mlir.module_to_bytecode(module)
            ids = [device.id for device in devices]
            if _CALLBACK not in program:
                request = CompileRequest(program, options.SerializeAsString(), ids)
                found = offer.compile_first(request)
                if found is not None:
                    loaded = backend.deserialize_executable(found, devices, options)
                    offer.loaded, offer.serialized = loaded, found
                    return loaded
        except Exception:
            _LOG.debug("A program that was compiled elsewhere cannot be used.", exc_info=True)
    return _originals["backend_compile_and_load"](
        backend, module, devices, options, *others, **named
    )


def _write_to_cache(
    key: str, seconds: float, name: str, backend: Any, executable: Any, *others: Any
) -> None:
    offer = _offer.get()
    if offer is not None and executable is offer.loaded:
        executable = offer
    _originals["_cache_write"](key, seconds, name, backend, executable, *others)


def compile_to_bytes(request: CompileRequest) -> bytes:
    """Compiles a program for processors, and returns the executable as bytes.

    Stands for `jax._src.lib.xla_client`, and methods of a client, which have no public names.

    Args:
        request: what `offering_compilations` gave.
    """
    client: Any = jax.devices("cpu")[0].client
    devices = {device.id: device for device in client.devices()}
    chosen = tuple(devices[number] for number in request.devices)
    with mlir.make_ir_context():
        executable = client.compile_and_load(
            ir.Module.parse(request.program),
            executable_devices=xla_client.DeviceList(chosen),
            compile_options=xla_client.CompileOptions.ParseFromString(request.options),
        )
    return executable.serialize()


def aval_of(atom: Var | Literal) -> ShapedArray:
    """Returns shape and type of a value of a jaxpr, whose `aval` is annotated as less than it is."""
    return cast(ShapedArray, atom.aval)


def programs_in(params: Mapping[str, Any]) -> list[Jaxpr | ClosedJaxpr]:
    """Lists the programs among an operation's parameters, as of a loop or a call.

    Stands for `jax._src.core.jaxprs_in_params`, which has no public name and leaves out their constants.
    """
    return [
        item
        for value in params.values()
        for item in (value if isinstance(value, (tuple, list)) else (value,))
        if isinstance(item, (Jaxpr, ClosedJaxpr))
    ]


def opened(program: Jaxpr | ClosedJaxpr) -> Jaxpr:
    """Returns a program without its constants."""
    return program.jaxpr if isinstance(program, ClosedJaxpr) else program


def has_side_effects(equation: JaxprEqn) -> bool:
    """Tells whether an operation does more than to name an axis of the mesh and to give results.

    Stands for `jax._src.core.NamedAxisEffect`, which has no public name.
    """
    return any(not isinstance(effect, core.NamedAxisEffect) for effect in equation.effects)


def coordination_client() -> Any:
    """Returns the client of the coordination service that `jax.distributed` started; None where it did not.

    Stands for `jax._src.distributed.global_state.client`, which has no public name.
    """
    return distributed.global_state.client


def start_gloo_within(block: Callable[[], contextlib.AbstractContextManager[None]]) -> None:
    """Lets a backend of processors start gloo, and with it the thread that sends and receives, within a block.

    Stands for `jaxlib._jax.make_gloo_tcp_collectives`, which no option reaches. Without it gloo starts as ever.

    Args:
        block: makes a context manager, once for each backend that is started.
    """
    start = getattr(_jax, "make_gloo_tcp_collectives", None)
    if start is None:
        return

    @functools.wraps(start)
    def start_within(*args: Any, **keywords: Any) -> Any:
        with block():
            return start(*args, **keywords)

    _jax.make_gloo_tcp_collectives = start_within


def is_tracing() -> bool:
    """Tells whether JAX is tracing on this thread; recording operations (`interposed`) is not tracing.

    Stands for `jax._src.core.trace_state_clean`, which has no public name.
    """
    if core.trace_state_clean():
        return False
    return (
        _below_interposers() is not core.eval_trace
        or core.trace_ctx.axis_env is not core.top_axis_env
    )


def is_evaluating() -> bool:
    """Tells whether operations on constants run at once on this thread: nothing is traced, or a caller asks for it.

    Stands for `jax._src.core.eval_trace`, and the setting of `jax.ensure_compile_time_eval`, which have no public names.
    """
    trace = core.trace_ctx.trace
    return trace is core.eval_trace or (
        config.eager_constant_folding.value and not isinstance(trace, _Interposer)
    )


def is_interposed() -> bool:
    """Tells whether operations of this thread are handed to a function (`interposed`)."""
    return isinstance(_below_ended_interposers(), _Interposer)


def user_line(equation: JaxprEqn) -> str | None:
    """Finds the user's line that an equation of a jaxpr came from.

    Stands for `equation.source_info.traceback`, an attribute with no public reader.

    Args:
        equation: a `jax.extend.core.JaxprEqn`.

    Returns:
        `"file.py:12 (function)"` of the innermost frame outside of libraries and of this package, or
        None.
    """
    return _user_line(equation.source_info)


def line_of(tracer: Any) -> str | None:
    """Finds the user's line that made a traced value; see `user_line`.

    Stands for `Tracer._line_info`, which has no public reader.
    """
    return _user_line(getattr(tracer, "_line_info", None))


def _user_line(source_info: Any) -> str | None:
    traceback = getattr(source_info, "traceback", None)
    for frame in traceback.frames if traceback is not None else ():
        if is_user_file(frame.file_name):
            name = frame.function_name.rsplit(".", 1)[-1]
            return f"{frame.file_name}:{frame.line_num} ({name})"
    return None


class _Interposer(core.Trace):
    """A trace that hands every operation to a function, which runs it in the trace below."""

    def __init__(self, below: core.Trace, operate: Operate) -> None:
        super().__init__()
        self.below = below
        self.ended = False
        self._operate = operate

    def stage_value(self, val: Any) -> Any:
        return self.below.stage_value(val)

    def process_primitive(self, primitive: Any, tracers: Any, params: Any, /) -> Any:
        program = params.get("jaxpr")
        if primitive.name in ("jit", "pjit") and getattr(program, "consts", ()):
            # Arrays that a compiled function closes over are constants of it, out of sight. So its
            # operations are handed on one by one.
            with core.set_current_trace(self):
                return core.jaxpr_as_fun(program)(*tracers)
        return self._run(primitive, tracers, params)

    def process_custom_jvp_call(
        self, primitive: Any, fun: Any, jvp: Any, tracers: Any, /, **params: Any
    ) -> Any:
        return self._run(primitive, tracers, {**params, "subfuns": (fun, jvp)})

    def process_custom_vjp_call(
        self, primitive: Any, fun: Any, fwd: Any, bwd: Any, tracers: Any, /, **params: Any
    ) -> Any:
        return self._run(primitive, tracers, {**params, "subfuns": (fun, fwd, bwd)})

    def process_call(self, primitive: Any, f: Any, tracers: Any, params: Any, /) -> Any:
        return self._run(primitive, tracers, {**params, "subfuns": (f,)})

    def _run(self, primitive: Any, args: Any, params: dict[str, Any]) -> Any:
        with core.set_current_trace(self.below):
            if self.ended:  # one above it has not
                return primitive.bind(*args, **params)
            return self._operate(BoundOperation(primitive, params), args)


def trace_state() -> Any:
    """Returns the state of tracing on this thread, to compare with another one.

    Stands for `jax.extend.core.get_opaque_trace_state`, which cannot look below an interposer. Flax and
    `spmd.Variable` compare states to find writes from inside a transformation; an interposer is none.
    """
    return core.OpaqueTraceState(_below_interposers()._weakref)


def _below_ended_interposers() -> Any:
    trace = core.trace_ctx.trace
    while isinstance(trace, _Interposer) and trace.ended:
        trace = trace.below
    return trace


def _below_interposers() -> Any:
    trace = core.trace_ctx.trace
    while isinstance(trace, _Interposer):
        trace = trace.below
    return trace


@contextlib.contextmanager
def interposed(operate: Operate) -> Generator[None]:
    """Hands every JAX operation of this thread to a function.

    Blocks may end in another order than they began: each function gets what runs until its own ends.

    Stands for `jax._src.core.Trace`, `set_current_trace` and `trace_ctx`, which have no public names.

    Args:
        operate: gets a function that runs the operation on other values, and the values; it returns
            the results. It may run under `jax.jit`, `jax.vmap` and the like, but is no transformation:
            what code sees are the values that `operate` returns, not tracers around them.
    """
    interposer = _Interposer(core.trace_ctx.trace, operate)
    core.trace_ctx.set_trace(interposer)
    try:
        yield
    finally:
        interposer.ended = True
        core.trace_ctx.set_trace(_below_ended_interposers())


def constant_outputs(pull: Any) -> list[bool]:
    """Tells which outputs of a function do not depend on its inputs, as far as gradients go.

    Stands for `pull.fun.args[1]`, which has no public reader.

    Args:
        pull: what `jax.vjp` returned.

    Returns:
        One flag for each output: True for the result of `stop_gradient`, a comparison and the like.
    """
    return [bool(constant) for constant in pull.fun.args[1]]


def zero_cotangent(value: Any) -> Any:
    """Makes a cotangent that is known to be zero; gradients do not compute with it.

    Stands for `jax._src.ad_util.Zero`, which a function of `jax.vjp` takes, but which has no public name.

    Args:
        value: the array that it belongs to.
    """
    return ad_util.Zero(core.typeof(value).to_tangent_aval())


def constant_value(value: Any) -> Any:
    """Computes a traced value that follows from constants alone, such as the product of a shape's sizes.

    Stands for `DynamicJaxprTracer.parent`, `get_const` and `jax._src.export.shape_poly.UnexpectedDimVar`, which have no public names.

    Args:
        value: an array, traced or not.

    Returns:
        A concrete array; None if the value depends on an input of the program, or takes many operations.
    """
    steps: dict[int, Any] = {}
    if not _collect(value, steps):
        return None
    results: dict[int, Any] = {}
    for step in steps.values():
        inputs = [_read(tracer, results) for tracer in step.in_tracers]
        params = step.primitive.get_bind_params(step.params)
        try:
            with core.eval_context():
                found = step.primitive.bind(*inputs, **params)
        except (
            NameError,  # a collective, of replicas that are not there
            NotImplementedError,
            shape_poly.UnexpectedDimVar,  # a size that the caller of an exported program chooses
        ):
            return None
        results[id(step)] = found if step.primitive.multiple_results else [found]
    return _read(value, results)


def _collect(value: Any, steps: dict[int, Any], depth: int = 0) -> bool:
    """Collects the operations that lead to a value, in order; False if not all of them start from constants."""
    if not isinstance(value, pe.DynamicJaxprTracer):
        return not isinstance(value, core.Tracer) and core.typeof(value).size <= _LARGEST_FOLDED
    step = value.parent
    if step is None:
        constant = value.get_const()
        return constant is not None and _collect(constant, steps, depth)
    if id(step) not in steps:
        # Loops may take long, and what has effects runs once.
        if max(len(steps), depth) >= _MOST_FOLDED:
            return False
        if step.effects or step.primitive.name in ("while", "scan"):
            return False
        if not all(_collect(tracer, steps, depth + 1) for tracer in step.in_tracers):
            return False
        steps[id(step)] = step
    return True


def _read(value: Any, results: dict[int, Any]) -> Any:
    if not isinstance(value, pe.DynamicJaxprTracer):
        return value
    if value.parent is None:
        return _read(value.get_const(), results)
    outputs: list[Any] = value.parent.outvars
    return results[id(value.parent)][outputs.index(value.val)]


def computed_from(
    values: Sequence[Any],
    is_source: Callable[[Any], bool] = lambda _: False,
    seen: dict[int, Any] | None = None,
) -> list[Any]:
    """Lists the traced values that some values are computed from, and these themselves, in the order of computation.

    Stands for `DynamicJaxprTracer.parent` and `get_const`, see `constant_value`. What runs in a loop or a branch counts as one operation.

    Args:
        values: arrays, traced or not.
        is_source: tells of a traced value that it does not matter what it is computed from.
        seen: by their ids, values that are left out; those that are found are added.
    """
    begun = {} if seen is None else seen
    found: list[Any] = []
    waiting = [(value, False) for value in reversed(values)]
    while waiting:
        value, is_done = waiting.pop()
        if is_done:
            found.append(value)
        elif isinstance(value, pe.DynamicJaxprTracer) and id(value) not in begun:
            begun[id(value)] = value
            waiting.append((value, True))
            if not is_source(value):
                inputs = value.parent.in_tracers if value.parent else [value.get_const()]
                waiting += [(one, False) for one in reversed(inputs)]
    return found


class _DependsOnInputError(Exception):
    """A value depends on an input of the program; most do, so the search for it ends at the first one."""


def recomputation(
    value: object, source: Callable[[Any], Callable[[], Any] | None]
) -> Callable[[], Any] | None:
    """Makes a function that computes a traced value outside of its trace, from values that it is computed from.

    Stands for `DynamicJaxprTracer.parent` and `get_const`, see `constant_value`.

    Args:
        value: what to compute. Its trace must not have ended.
        source: gives for a traced value a function that computes it; None if only the trace can.

    Returns:
        The function; None if the value depends on another input of the program, has effects, or is of a collective.
    """

    def is_source(one: Any) -> bool:
        if source(one) is not None:
            return True
        if one.parent is None and one.get_const() is None:
            raise _DependsOnInputError
        return False

    try:
        order = computed_from([value], is_source)
    except _DependsOnInputError:
        return None
    sources: dict[int, Callable[[], Any]] = {}
    constants: dict[int, Any] = {}
    steps: dict[int, Any] = {}
    for one in order:
        step, found = one.parent, source(one)
        if found is not None:
            sources[id(one.val)] = found
        elif step is None:
            constant = one.get_const()
            is_number = (
                not isinstance(constant, core.Tracer)
                and core.typeof(constant).dtype.kind in "biufc"
            )
            # Its type knows of the trace's mesh.
            constants[id(one.val)] = np.asarray(constant) if is_number else constant
        elif step.effects or "axis_name" in step.params or "axis_index_groups" in step.params:
            return None
        else:
            steps[id(step)] = step

    def read(one: object, results: dict[int, Any]) -> Any:
        while isinstance(one, pe.DynamicJaxprTracer):
            if id(one.val) in results:
                return results[id(one.val)]
            one = constants[id(one.val)]
        return one

    def compute() -> Any:
        results = {key: found() for key, found in sources.items()}
        for step in steps.values():
            made: Any = [read(one, results) for one in step.in_tracers]
            if step.primitive.name not in _CASTS:
                params = step.primitive.get_bind_params(step.params)
                made = step.primitive.bind(*made, **params)
                made = made if step.primitive.multiple_results else [made]
            results.update((id(var), new) for var, new in zip(step.outvars, made, strict=True))
        return read(value, results)

    return compute


@dataclasses.dataclass(frozen=True)
class AxisIndex:
    """The index of a device along a mesh axis, as `linear_form` gives it: the same one wherever a program asks for it.

    Attributes:
        axis: name of the axis.
    """

    axis: Any


def linear_form(value: Any) -> tuple[Any, int, int] | None:
    """Finds what a whole number is a multiple of, plus a constant: `i * 2 + 3` is `(i, 2, 3)`.

    Stands for `DynamicJaxprTracer.parent`, see `constant_value`.

    Args:
        value: a number, traced or not.

    Returns:
        Something that stands for the other number, and equals only what stands for the same one; the factor; what is
        added. A constant has the factor 0. None if the value is no whole number.
    """
    aval = core.typeof(value)
    if aval.shape != () or aval.dtype.kind not in "iu":
        return None
    if not isinstance(value, pe.DynamicJaxprTracer):
        return (value, 1, 0) if isinstance(value, core.Tracer) else (None, 0, int(value))
    constant = constant_value(value)
    if constant is not None:
        return None, 0, int(constant)
    step = value.parent
    outer = value.get_const() if step is None else None
    if isinstance(outer, core.Tracer):  # a value of the program around this one
        return linear_form(outer)
    name = "" if step is None else step.primitive.name
    if step is not None and name == "axis_index":
        return AxisIndex(step.params["axis_name"]), 1, 0
    if step is None or name not in _LINEAR:
        return value.val, 1, 0
    forms = list(map(linear_form, step.in_tracers))
    one, other = forms[0], forms[-1]
    if one is None or other is None:
        return value.val, 1, 0
    if name == "neg":
        return one[0], -one[1], -one[2]
    if name == "convert_element_type":
        return one
    if name == "mul":
        if one[1] and other[1]:
            return value.val, 1, 0
        (base, factor, added), times = (one, other[2]) if one[1] else (other, one[2])
        return base, factor * times, added * times
    sign = -1 if name == "sub" else 1
    if one[1] and other[1] and one[0] != other[0]:
        return value.val, 1, 0
    base = one[0] if one[1] else other[0]
    return base, one[1] + sign * other[1], one[2] + sign * other[2]
