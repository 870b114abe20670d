"""What the engine takes from JAX's internals, tried on the version that is installed."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src import core, xla_bridge
from jax.experimental.compilation_cache import compilation_cache

import spmd
from spmd import _jax_internals
from spmd.lowering import enable_compilation_cache

ROOT = Path(spmd.__file__).parents[1]


def plain(x: Any) -> Any:
    return x * 2


def through_a_library(x: Any) -> Any:
    return jax.nn.softmax(x)


def through_the_engine(x: Any) -> Any:
    return spmd.average_loss(x)


def in_a_scan(x: Any) -> Any:
    def body(carry: Any, row: Any) -> Any:
        return carry + row, row

    return jax.lax.scan(body, jnp.float32(0.0), x)[0]


def all_lines(jaxpr: Any) -> set[str | None]:
    lines: set[str | None] = set()
    for equation in jaxpr.eqns:
        lines.add(_jax_internals.user_line(equation))
        for parameter in equation.params.values():
            inner = getattr(parameter, "jaxpr", parameter)
            if hasattr(inner, "eqns"):
                lines |= all_lines(inner)
    return lines


def test_a_backend_is_seen_once_it_runs() -> None:
    code = (
        "import jax, spmd\n"
        "from spmd import _jax_internals as internals\n"
        "print([internals.backend_is_running(), internals.backend_is_running(),\n"
        "       bool(jax.devices()), internals.backend_is_running()])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[False, False, True, True]"


def test_the_backend_of_this_process_runs() -> None:
    assert jax.devices()
    assert _jax_internals.backend_is_running()


def test_the_coordination_service_is_reached_once_it_runs(run_python) -> None:
    assert _jax_internals.coordination_client() is None
    done = run_python(
        "-c",
        "import jax, socket\n"
        "from spmd import _jax_internals as internals\n"
        "with socket.create_server(('127.0.0.1', 0)) as one:\n"
        "    address = '127.0.0.1:%d' % one.getsockname()[1]\n"
        "jax.distributed.initialize(address, 1, 0)\n"
        "client = internals.coordination_client()\n"
        "client.key_value_set('a', '1')\n"
        "print(client.blocking_key_value_get('a', 1000))\n"
        "def error(function, *args):\n"
        "    try: function(*args)\n"
        "    except jax.errors.JaxRuntimeError as error: print(str(error).split(':')[0])\n"
        "error(client.key_value_set, 'a', '2')\n"
        "client.key_value_delete('a')\n"
        "error(client.blocking_key_value_get, 'a', 10)\n",
    )
    assert done.stdout.split() == ["1", "ALREADY_EXISTS", "DEADLINE_EXCEEDED"]


@pytest.mark.parametrize("function", [plain, through_a_library, through_the_engine])
def test_an_equation_names_the_user_s_line(function: Any) -> None:
    jaxpr = jax.make_jaxpr(function)(np.ones(3, np.float32)).jaxpr
    line = function.__code__.co_firstlineno + 1
    assert all_lines(jaxpr) == {f"{__file__}:{line} ({function.__name__})"}


def test_an_equation_in_a_loop_names_the_line_of_the_loop_s_body() -> None:
    jaxpr = jax.make_jaxpr(in_a_scan)(np.ones(3, np.float32)).jaxpr
    first = in_a_scan.__code__.co_firstlineno
    assert f"{__file__}:{first + 2} (body)" in all_lines(jaxpr)
    assert f"{__file__}:{first + 4} (in_a_scan)" in all_lines(jaxpr)


def test_an_equation_without_a_traceback_has_no_line() -> None:
    nowhere = SimpleNamespace(source_info=SimpleNamespace(traceback=None))
    assert _jax_internals.user_line(nowhere) is None
    frame = SimpleNamespace(file_name=jax.__file__, line_num=1, function_name="f")
    library = SimpleNamespace(
        source_info=SimpleNamespace(traceback=SimpleNamespace(frames=[frame]))
    )
    assert _jax_internals.user_line(library) is None


def test_operations_are_handed_to_a_function_and_stay_what_they_are():
    seen = []

    def operate(bind, args):
        seen.append([getattr(arg, "shape", None) for arg in args])
        return bind(*args)

    x = jnp.ones(3)
    before = _jax_internals.trace_state()
    with _jax_internals.interposed(operate):
        assert _jax_internals.is_interposed()
        assert not _jax_internals.is_tracing()
        assert _jax_internals.trace_state() == before
        y = jax.jit(lambda x: x * 2)(x)
        y = jax.jit(lambda x: x * 2)(y)
        assert not isinstance(y, jax.core.Tracer)
    assert seen == [[(3,)], [(3,)]]
    assert not _jax_internals.is_interposed()
    seen.clear()
    jax.jit(lambda x: x * 2)(x)
    assert not seen


def test_constants_are_computed_at_once_outside_of_traces_and_where_these_ask_for_it():
    found = [_jax_internals.is_evaluating()]

    @jax.jit
    def program(x):
        found.append(_jax_internals.is_evaluating())
        with jax.ensure_compile_time_eval():
            found.append(_jax_internals.is_evaluating())
        return x

    program(1.0)
    with _jax_internals.interposed(lambda bind, args: bind(*args)):
        found.append(_jax_internals.is_evaluating())
    assert found == [True, False, True, False]


def test_arrays_that_a_compiled_function_closes_over_are_operands():
    seen = []
    x = jnp.ones(3)
    with _jax_internals.interposed(lambda bind, args: (seen.extend(args), bind(*args))[1]):
        jax.jit(lambda y: y * x)(jnp.float32(2))
    assert any(one is x for one in seen)


def test_blocks_may_end_in_another_order_than_they_began():
    seen: list[str] = []

    def block(name: str) -> Any:
        return _jax_internals.interposed(lambda bind, args: (seen.append(name), bind(*args))[1])

    first, second = block("first"), block("second")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    jnp.float32(1) + 1
    assert "first" not in seen
    assert "second" in seen
    assert _jax_internals.is_interposed()
    second.__exit__(None, None, None)
    seen.clear()
    jnp.float32(1) + 1
    assert not seen
    assert not _jax_internals.is_interposed()


def test_a_trace_is_told_from_an_interposer():
    def traced(x):
        assert _jax_internals.is_tracing()
        with _jax_internals.interposed(lambda bind, args: bind(*args)):
            assert _jax_internals.is_tracing()
            return x + 1

    assert float(jax.jit(traced)(1.0)) == 2.0


def test_outputs_without_a_gradient():
    def function(x):
        return x * 2, jax.lax.stop_gradient(x), jnp.argmax(x)

    outputs, pull = jax.vjp(function, jnp.ones(3))
    assert _jax_internals.constant_outputs(pull) == [False, True, True]
    zeros = [_jax_internals.zero_cotangent(output) for output in outputs]
    (gradient,) = pull((jnp.ones(3), *zeros[1:]))
    assert gradient.tolist() == [2, 2, 2]


def test_constants_are_found_in_a_trace() -> None:
    found: list[Any] = []

    def run(x: Any) -> Any:
        sizes = jnp.asarray(np.array([2, 3], np.int32))
        key = _jax_internals.constant_value
        found.extend(map(key, (sizes, jnp.prod(sizes), jnp.where(sizes > 2, sizes, 0)[1:])))
        found.extend(
            map(key, (x, sizes * x, jax.lax.while_loop(lambda i: i < 9, lambda i: i + 1, 0)))
        )

        def body(carry: Any, _: None) -> Any:
            found.extend(map(key, (jnp.prod(sizes) + 1, carry)))
            return carry + 1, None

        return jax.lax.scan(body, x, length=2)

    jax.make_jaxpr(run)(1)
    values = [None if one is None else np.asarray(one).tolist() for one in found]
    assert values == [[2, 3], 6, [3], None, None, None, 7, None]


def test_long_ways_to_a_constant_are_not_gone() -> None:
    def run(x: Any) -> Any:
        y = jnp.asarray(np.ones(2, np.float32))
        for _ in range(2000):
            y = y + 1.0
        assert _jax_internals.constant_value(y) is None
        return x

    jax.make_jaxpr(run)(1.0)


def test_collectives_are_no_constants(mesh_of: Any) -> None:
    def run(x: Any) -> Any:
        total = spmd.all_reduce(jnp.asarray(np.float32(2.0)))
        found.append(_jax_internals.constant_value(total))
        return x + total

    found: list[Any] = []
    spmd.Step(run, mesh_of(2))(jnp.ones(()))
    assert found == [None]


def test_sizes_that_the_caller_of_a_program_chooses_are_no_constants() -> None:
    def run(x: Any) -> Any:
        rows = jnp.arange(x.shape[0])
        found.append(_jax_internals.constant_value(rows))
        return rows

    found: list[Any] = []
    (rows,) = jax.export.symbolic_shape("rows,")
    jax.export.export(jax.jit(run))(jax.ShapeDtypeStruct((rows,), np.float32))
    assert found == [None]


def test_the_index_of_a_device_is_one_number() -> None:
    def run(x: Any) -> Any:
        form = _jax_internals.linear_form
        one, other = (jax.lax.axis_index(axis) for axis in ("a", "a"))
        index = _jax_internals.AxisIndex("a")
        assert form(one * 2 + 1) == (index, 2, 1)
        assert form(one - other * 3) == (index, -2, 0)
        return x

    jax.make_jaxpr(run, axis_env=[("a", 2)])(1.0)


def test_whole_numbers_are_multiples_of_another() -> None:
    def run(i: Any, j: Any, x: Any) -> Any:
        form = _jax_internals.linear_form
        base, factor, added = form(i)
        assert (factor, added) == (1, 0)
        three = jnp.asarray(np.int32(3))
        for value, expected in (
            (i + 2, (1, 2)),
            (2 - i * 3, (-3, 2)),
            (three * (i + 1) - 4, (3, -1)),
            ((i + 1) - i, (0, 1)),
            (-i.astype(jnp.int32) + i * 2, (1, 0)),
        ):
            found = form(value)
            assert found[1:] == expected
            assert found[0] is base
        assert form(three)[1:] == (0, 3)
        for value in (i * j, i + j, i // 2):
            other, factor, added = form(value)
            assert (factor, added) == (1, 0)
            assert other is not base
        assert form(x) is None
        assert form(i + jnp.zeros(2, jnp.int32)) is None
        return i

    jax.make_jaxpr(run)(jnp.int32(1), jnp.int32(2), jnp.float32(0))


def test_only_names_of_axes_are_no_side_effects() -> None:
    def step(x: Any) -> Any:
        jax.debug.callback(lambda y: None, x)
        return jax.lax.axis_index("data")

    equations = jax.make_jaxpr(step, axis_env=[("data", 2)])(1.0).jaxpr.eqns
    found = [(one.primitive.name, _jax_internals.has_side_effects(one)) for one in equations]
    assert found == [("debug_callback", True), ("axis_index", False)]
    assert all(one.effects for one in equations)


def test_a_value_is_computed_again_outside_of_its_trace_from_what_is_known() -> None:
    made: list[Any] = []

    @jax.jit
    def step(x: Any, y: Any) -> Any:
        chosen = jax.lax.cond(x > 1, lambda: jnp.tanh(x) * jnp.arange(2.0)[1], lambda: x)
        known = {id(x): lambda: jnp.float32(3)}
        for value in (chosen + 1, chosen + y, x, jnp.float32(2)):
            made.append(_jax_internals.recomputation(value, lambda one: known.get(id(one))))
        order = _jax_internals.computed_from([chosen + 1, y])
        assert [order[0] is x, order[-1] is y, len(order)] == [True, True, len(set(map(id, order)))]
        assert _jax_internals.computed_from([x, 7, y], seen={id(x): x}) == [y]
        return chosen

    step(2.0, 1.0)
    first, of_batch, itself, constant = made
    assert of_batch is None
    assert [float(one()) for one in (first, itself, constant)] == pytest.approx([1.995055, 3, 2])


def _doubled_sum(mesh: jax.sharding.Mesh) -> Any:
    def replica(x: jax.Array) -> jax.Array:
        return jax.lax.psum(jnp.tanh(x).sum() * 2, "data")

    spec = jax.sharding.PartitionSpec
    return jax.jit(jax.shard_map(replica, mesh=mesh, in_specs=spec("data"), out_specs=spec()))


@pytest.fixture
def cache_hits(tmp_path: Path) -> Iterator[list[str]]:
    """Starts with an empty cache; lists what is found in it."""
    hits: list[str] = []

    def listen(event: str, **_: object) -> None:
        if event.endswith("/cache_hits"):
            hits.append(event)

    before = jax.config.jax_compilation_cache_dir  # pyright: ignore[reportAttributeAccessIssue]
    enable_compilation_cache(tmp_path)
    jax.monitoring.register_event_listener(listen)
    try:
        yield hits
    finally:
        jax.monitoring.unregister_event_listener(listen)
        jax.config.update("jax_compilation_cache_dir", before)
        compilation_cache.reset_cache()


@pytest.mark.parametrize("first", [0, 3])
def test_what_is_compiled_elsewhere_runs_here_and_from_the_cache(
    cache_hits: list[str], first: int
) -> None:
    devices = np.array(jax.devices("cpu")[first : first + 2])
    mesh, x = jax.sharding.Mesh(devices, "data"), np.arange(6.0, dtype=np.float32)
    handed: list[_jax_internals.CompileRequest] = []

    def compile_first(request: _jax_internals.CompileRequest) -> bytes:
        handed.append(request)
        return _jax_internals.compile_to_bytes(request)

    for times in range(2):
        with _jax_internals.offering_compilations(compile_first):
            found = _doubled_sum(mesh)(x)
        np.testing.assert_allclose(found, 2 * np.tanh(x).sum(), rtol=1e-6)
        assert [request.devices for request in handed] == [[first, first + 1]]
        assert len(cache_hits) == times
        jax.clear_caches()


def _fail(request: _jax_internals.CompileRequest) -> bytes | None:
    raise OSError("of the other process")


@pytest.mark.usefixtures("cache_hits")
@pytest.mark.parametrize("answer", [lambda request: None, lambda request: b"none", _fail])
def test_what_is_not_compiled_elsewhere_is_compiled_here(answer: Any) -> None:
    asked: list[_jax_internals.CompileRequest] = []

    def compile_first(request: _jax_internals.CompileRequest) -> bytes | None:
        asked.append(request)
        return answer(request)

    x = np.arange(11.0, dtype=np.float32)
    with _jax_internals.offering_compilations(compile_first):
        found = jax.jit(lambda x: x * 5)(x)
    assert found[2] == 10
    assert len(asked) == 1


def _callback(x: jax.Array) -> jax.Array:
    return jax.pure_callback(lambda value: np.asarray(value) + 1, x, x)


def _named_callback(x: jax.Array) -> jax.Array:
    return x + 1


@pytest.mark.usefixtures("cache_hits")
@pytest.mark.parametrize(("function", "times"), [(_callback, 0), (_named_callback, 1)])
def test_only_what_calls_python_is_not_offered(function: Any, times: int) -> None:
    asked: list[_jax_internals.CompileRequest] = []
    with _jax_internals.offering_compilations(asked.append):
        found = jax.jit(function)(np.float32(2.0))
    assert found == 3
    assert len(asked) == times


def test_gloo_starts_within_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    @contextlib.contextmanager
    def block() -> Iterator[None]:
        seen.append("before")
        yield
        seen.append("after")

    # The place that JAX calls is looked up there, in every version.
    assert callable(xla_bridge._jax.make_gloo_tcp_collectives)
    monkeypatch.setattr(
        xla_bridge._jax, "make_gloo_tcp_collectives", lambda **client: seen.append(client)
    )
    _jax_internals.start_gloo_within(block)
    xla_bridge._jax.make_gloo_tcp_collectives(distributed_client=1)
    assert seen == ["before", {"distributed_client": 1}, "after"]


def test_a_jax_without_gloo_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(xla_bridge._jax, "make_gloo_tcp_collectives")
    _jax_internals.start_gloo_within(contextlib.nullcontext)
    assert not hasattr(xla_bridge._jax, "make_gloo_tcp_collectives")


def test_programs_in_operations_are_those_that_jax_finds() -> None:
    def function(x: jax.Array) -> jax.Array:
        x = jax.lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x)
        x = jax.lax.fori_loop(0, x.size, lambda _, carry: jax.jit(jnp.tanh)(carry), x)
        return jax.nn.relu(x)

    found = []
    for equation in jax.make_jaxpr(function)(jnp.ones(3)).eqns:
        programs = _jax_internals.programs_in(equation.params)
        ours = list(map(_jax_internals.opened, programs))
        theirs = list(core.jaxprs_in_params(equation.params))
        assert all(one is other for one, other in zip(ours, theirs, strict=True))
        found.append(len(ours))
    assert max(found) == 2
    assert 0 in found
