"""Which state a step finds, and whether it notices when that state is replaced.

A step may use what it finds, must refuse what it cannot find, and must never go on with an object that
its code no longer refers to.
"""

import dataclasses
import functools
import gc
import textwrap
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx
from jax.sharding import Mesh

import spmd

MeshOf = Callable[[int], Mesh]


def param(*values: float) -> nnx.Param[Any]:
    return nnx.Param(jnp.array(values))


@pytest.fixture
def mesh(mesh_of: MeshOf) -> Mesh:
    return mesh_of(2)


def names(mesh: Mesh, function: Any) -> tuple[str, ...]:
    """Names of the state that the program of a function takes in."""
    return spmd.Step(function, mesh).lower().state_names


# What is found.

a_global = param(1.0, 2.0)


def reads_a_global() -> Any:
    return a_global[...] * 2


def reads_through_another_function() -> Any:
    return reads_a_global() + 1


class Plain:
    """An object of no library, that holds state."""

    __slots__ = ("here",)

    def __init__(self, here: Any) -> None:
        self.here = here

    def read(self) -> Any:
        return self.here[...] * 2


class WithDict:
    def __init__(self, here: Any) -> None:
        self.here = here

    def __call__(self) -> Any:
        return self.here[...] * 2

    def read(self) -> Any:
        return self.here[...] * 2

    @property
    def doubled(self) -> Any:
        return self.here[...] * 2


@dataclasses.dataclass
class Record:
    here: Any


def ways_to_reach(variable: Any) -> dict[str, Callable[[], Any]]:
    """Functions that give twice the variable's value, and get at it by different ways."""
    plain, holder, record = Plain(variable), WithDict(variable), Record(variable)
    nested = {"list": [(0, {"deep": variable})]}

    def takes_default(v: Any = variable) -> Any:
        return v[...] * 2

    def takes_keyword(*, v: Any = variable) -> Any:
        return v[...] * 2

    def helper() -> Any:
        return variable[...] * 2

    @functools.wraps(helper)
    def wrapper() -> Any:
        return helper()

    def nested_function() -> Any:
        def inner() -> Any:
            return variable[...] * 2

        return inner()

    return {
        "closure": lambda: variable[...] * 2,
        "default": takes_default,
        "keyword default": takes_keyword,
        "object with slots": lambda: plain.here[...] * 2,
        "object": lambda: holder.here[...] * 2,
        "bound method": holder.read,
        "bound method of an object with slots": plain.read,
        "method in a closure": lambda: plain.read(),
        "property": lambda: holder.doubled,
        "callable object": holder,
        "dataclass": lambda: record.here[...] * 2,
        "containers": lambda: nested["list"][0][1]["deep"][...] * 2,
        "partial": functools.partial(lambda v: v[...] * 2, variable),
        "partial with keyword": functools.partial(lambda v: v[...] * 2, v=variable),
        "decorated": wrapper,
        "nested function": nested_function,
        "jitted helper": lambda: jax.jit(helper)(),
        "made jitted before": jax.jit(helper),
        "cached helper": lambda: functools.lru_cache(lambda: variable)()[...] * 2,
        "vmapped helper": lambda: jax.vmap(lambda _: helper())(jnp.ones(1))[0],
        "checkpointed helper": jax.checkpoint(helper),
    }


WAYS = list(ways_to_reach(None))


@pytest.mark.parametrize("way", WAYS)
def test_state_is_found_and_followed(mesh: Mesh, way: str) -> None:
    variable = param(1.0, 2.0)
    step = spmd.Step(ways_to_reach(variable)[way], mesh)
    np.testing.assert_allclose(step(), [2.0, 4.0])
    variable[...] = jnp.array([10.0, 20.0])
    np.testing.assert_allclose(step(), [20.0, 40.0])


def test_globals_are_found_through_functions(mesh: Mesh) -> None:
    step = spmd.Step(reads_through_another_function, mesh)
    np.testing.assert_allclose(step(), [3.0, 5.0])
    assert names(mesh, reads_through_another_function) == ("a_global",)


def test_arguments_are_state(mesh: Mesh) -> None:
    def step(model: Any, options: dict[str, Any]) -> Any:
        model[...] += 1
        options["more"][0][...] += 2
        return model[...] + options["more"][0][...]

    first, second = param(1.0), param(2.0)
    run = spmd.Step(step, mesh)
    assert float(run(first, {"more": [second]})[0]) == 6.0
    assert float(run(first, {"more": [second]})[0]) == 9.0
    assert (float(first[0]), float(second[0])) == (3.0, 6.0)
    # Other objects of the same shape are other state.
    third = param(100.0)
    assert float(run(third, {"more": [second]})[0]) == 109.0
    assert (float(first[0]), float(second[0]), float(third[0])) == (3.0, 8.0, 101.0)


def test_a_model_and_its_optimizer_passed_as_arguments_are_trained(mesh: Mesh) -> None:
    def train(model: Any, *, optimizer: Any) -> None:
        optimizer.update(model, nnx.grad(lambda model: model.bias[...].sum())(model))

    model = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.sgd(0.25), wrt=nnx.Param)
    step = spmd.Step(train, mesh)
    for _ in range(2):
        step(model, optimizer=optimizer)
    # Two steps, two replicas, each with the gradient 1.
    np.testing.assert_allclose(model.bias[...], [-1.0, -1.0])
    assert int(optimizer.step[...]) == 2
    assert step.trace_count == 1


def test_statistics_and_random_streams_of_arguments_advance(mesh: Mesh) -> None:
    def apply(norm: Any, dropout: Any, x: Any) -> Any:
        return dropout(norm(x))

    norm = nnx.BatchNorm(2, momentum=0.0, rngs=nnx.Rngs(0))
    dropout = nnx.Dropout(0.5, rngs=nnx.Rngs(0))
    rows = np.array([[1, 2], [3, 4], [5, 6], [7, 8]], np.float32)
    batch = next(iter(spmd.distribute(rows, mesh, batch_size=4, prefetch=0)))
    step = spmd.Step(apply, mesh)
    step(norm, dropout, batch)
    np.testing.assert_allclose(norm.mean[...], [4.0, 5.0])
    assert int(dropout.rngs.count[...]) == 1


def test_an_spmd_variable_passed_as_argument_is_written(mesh: Mesh) -> None:
    def count(variable: Any) -> None:
        variable.value = variable.value + 1

    variable = spmd.Variable(jnp.zeros(2))
    step = spmd.Step(count, mesh)
    step(variable)
    step(variable)
    np.testing.assert_array_equal(variable.value, [2.0, 2.0])


def test_a_function_gets_the_very_object_that_was_passed(mesh: Mesh) -> None:
    model, seen = nnx.Linear(2, 2, rngs=nnx.Rngs(0)), []
    spmd.Step(lambda m: seen.append(m), mesh)(model)
    assert seen[0] is model


def test_named_state_is_found(mesh: Mesh) -> None:
    variable = param(1.0)
    get = unreachable(variable)
    step = spmd.Step(lambda: get()[...] * 2, mesh, state=[variable])
    assert float(step()[0]) == 2.0
    variable[...] = jnp.array([4.0])
    assert float(step()[0]) == 8.0


def test_leaves_are_named_as_python_writes_them(mesh: Mesh) -> None:
    model = nnx.Dict(layers=nnx.List([nnx.Linear(2, 2, rngs=nnx.Rngs(0))]))
    pair = spmd.Variable({"a": jnp.ones(2)})
    found = names(mesh, lambda: model["layers"][0](jnp.ones(2)) + pair.value["a"])
    assert set(found) == {"model.layers[0].kernel", "model.layers[0].bias", "pair['a']"}


def test_a_shared_variable_is_found_once(mesh: Mesh) -> None:
    shared = param(1.0)
    model = nnx.Dict(one=shared, two=shared)
    found = names(mesh, lambda: model["one"][...] + model["two"][...] + shared[...])
    assert len(found) == 1


def test_state_that_the_step_does_not_use_is_not_passed_in(mesh: Mesh) -> None:
    used, unused, written = param(1.0), param(2.0), param(3.0)

    def step() -> Any:
        if unused is None:
            return 0.0
        written[...] = written[...] + 1
        return used[...]

    assert set(spmd.Step(step, mesh).lower().state_names) == {"used", "written"}


class Rows(Sequence[Any]):
    """A data set: reading all of it to look for models would take for ever."""

    def __init__(self) -> None:
        self.reads = 0

    def __len__(self) -> int:
        return 10**9

    def __getitem__(self, index: int) -> Any:
        self.reads += 1
        assert self.reads < 10_000, "the search for state reads a data set"
        return np.zeros(3)


def test_a_data_set_in_reach_is_not_read(mesh: Mesh) -> None:
    rows = Rows()
    step = spmd.Step(lambda: jnp.ones(()) * len(rows), mesh)
    assert float(step()) == 1e9


# What is not found must be refused.


def unreachable(variable: Any) -> Callable[[], Any]:
    """A way to a variable that cannot be searched: a method of a list, which is C code."""
    return functools.partial([variable].__getitem__, 0)


def test_reading_an_nnx_variable_that_was_not_found_is_refused(mesh: Mesh) -> None:
    variable = param(1.0, 2.0)
    get = unreachable(variable)
    step = spmd.Step(lambda: get()[...] * 2, mesh)
    with pytest.raises(spmd.errors.StateError) as error:
        step()
    message = str(error.value)
    assert "Param of shape (2,)" in message
    assert "spmd.Step(fn, mesh, state=[" in message
    assert __file__ in message


@pytest.mark.parametrize(
    "wrap",
    [
        lambda read: jax.jit(read)(),
        lambda read: jax.lax.scan(lambda c, _: (c + read(), None), jnp.zeros(2), None, length=2)[0],
        lambda read: jax.lax.cond(True, read, lambda: jnp.zeros(2)),
        lambda read: jax.checkpoint(lambda x: x * read())(jnp.ones(2)),
        lambda read: jax.grad(lambda x: (x * read()).sum())(jnp.ones(2)),
        lambda read: jax.vmap(lambda x: x * read())(jnp.ones((3, 2)))[0],
        lambda read: read(),
        lambda read: read()[0],
        lambda read: read().sum(),
        lambda read: jnp.where(True, read(), 0.0),
    ],
    ids=["jit", "scan", "cond", "remat", "grad", "vmap", "as it is", "item", "sum", "where"],
)
def test_reading_an_unfound_variable_is_refused_inside(mesh: Mesh, wrap: Any) -> None:
    variable = param(1.0, 2.0)
    get = unreachable(variable)
    step = spmd.Step(lambda: wrap(lambda: get()[...] * 2), mesh)
    with pytest.raises(spmd.errors.StateError, match=r"state=\["):
        step()


@pytest.mark.parametrize("value", [jnp.float32(2.0), jnp.int32(3), jnp.ones(()), jnp.ones((1, 1))])
def test_reading_an_unfound_scalar_is_refused(mesh: Mesh, value: Any) -> None:
    # JAX may write a scalar into the program as a literal, which leaves no constant to find.
    variable = nnx.Variable(value)
    get = unreachable(variable)
    with pytest.raises(spmd.errors.StateError, match=r"state=\["):
        spmd.Step(lambda: get()[...] * 2, mesh)()


def test_reading_an_unfound_key_is_refused(mesh: Mesh) -> None:
    variable = nnx.RngKey(jax.random.key(0), tag="noise")
    get = unreachable(variable)
    with pytest.raises(spmd.errors.StateError, match=r"state=\["):
        spmd.Step(lambda: jax.random.normal(get()[...]), mesh)()


def test_writing_an_nnx_variable_that_was_not_found_is_refused(mesh: Mesh) -> None:
    variable = param(1.0, 2.0)
    get = unreachable(variable)

    def step() -> None:
        get()[...] = jnp.zeros(2)

    with pytest.raises(spmd.errors.StateError) as error:
        spmd.Step(step, mesh)()
    assert "Param of shape (2,)" in str(error.value)
    assert "spmd.Step(fn, mesh, state=[" in str(error.value)
    np.testing.assert_array_equal(variable[...], [1.0, 2.0])


def test_an_spmd_variable_that_was_not_found_is_refused(mesh: Mesh) -> None:
    variable = spmd.Variable(jnp.ones(2), name="hidden")
    get = unreachable(variable)

    def write() -> None:
        get().value = jnp.zeros(2)

    for function, verb in ((lambda: get().value, "reads"), (write, "writes")):
        with pytest.raises(spmd.errors.StateError) as error:
            spmd.Step(function, mesh)()
        message = str(error.value)
        assert f"{verb} Variable('hidden'" in message
        assert "spmd.Step(fn, mesh, state=[" in message
    np.testing.assert_array_equal(variable.value, [1.0, 1.0])


def test_an_unfound_model_with_its_optimizer_is_refused(mesh: Mesh) -> None:
    pair = [nnx.Linear(2, 1, rngs=nnx.Rngs(0))]
    pair.append(nnx.Optimizer(pair[0], optax.sgd(0.1), wrt=nnx.Param))
    get = pair.__getitem__
    before = np.asarray(pair[0].kernel[...])

    def step() -> None:
        model, optimizer = get(0), get(1)
        optimizer.update(model, nnx.grad(lambda m: m.kernel[...].sum())(model))

    with pytest.raises(spmd.errors.StateError, match=r"state=\["):
        spmd.Step(step, mesh)()
    np.testing.assert_array_equal(pair[0].kernel[...], before)


def test_an_array_that_was_taken_out_of_a_variable_is_a_constant(mesh: Mesh) -> None:
    # The distance to the first weights: an array that was read on purpose, not a stale variable.
    model = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
    first = model.kernel[...]
    distance = spmd.Step(lambda: jnp.abs(model.kernel[...] - first).sum(), mesh)
    assert float(distance()) == 0.0
    model.kernel[...] = model.kernel[...] + 1
    np.testing.assert_allclose(distance(), 4.0, rtol=1e-6)


# What is replaced must be noticed.


def test_a_closure_cell_bound_to_another_model_is_noticed(mesh: Mesh) -> None:
    model = param(1.0)
    step = spmd.Step(lambda: model[...] * 2, mesh)
    assert float(step()[0]) == 2.0
    model = param(5.0)
    assert float(step()[0]) == 10.0
    assert step.trace_count == 2


def test_a_global_bound_to_another_model_is_noticed(mesh: Mesh) -> None:
    namespace: dict[str, Any] = {"model": param(1.0), "__name__": "a_script"}
    exec("def step(): return model[...] * 2", namespace)
    step = spmd.Step(namespace["step"], mesh)
    assert float(step()[0]) == 2.0
    namespace["model"] = param(5.0)
    assert float(step()[0]) == 10.0
    del namespace["model"]
    with pytest.raises(NameError):
        step()


def test_a_number_in_a_closure_that_changes_is_noticed(mesh: Mesh) -> None:
    rate = 2.0
    step = spmd.Step(lambda: jnp.ones(()) * rate, mesh)
    assert float(step()) == 2.0
    rate = 3.0
    assert float(step()) == 3.0
    rate = 3.0 + 0.0  # an equal number is no change
    assert float(step()) == 3.0
    assert step.trace_count == 2


def test_an_attribute_bound_to_another_model_is_noticed(mesh: Mesh) -> None:
    holder = WithDict(param(1.0))
    step = spmd.Step(holder.read, mesh)
    assert float(step()[0]) == 2.0
    holder.here = param(5.0)
    assert float(step()[0]) == 10.0


def test_a_slot_bound_to_another_model_is_noticed(mesh: Mesh) -> None:
    holder = Plain(param(1.0))
    step = spmd.Step(holder.read, mesh)
    assert float(step()[0]) == 2.0
    holder.here = param(5.0)
    assert float(step()[0]) == 10.0


def test_an_entry_bound_to_another_model_is_noticed(mesh: Mesh) -> None:
    models = {"first": param(1.0)}
    step = spmd.Step(lambda: models["first"][...] * 2, mesh)
    assert float(step()[0]) == 2.0
    models["first"] = param(5.0)
    assert float(step()[0]) == 10.0


def test_a_list_that_grows_is_noticed(mesh: Mesh) -> None:
    models = [param(1.0)]
    step = spmd.Step(lambda: sum(model[...] for model in models), mesh)
    assert float(step()[0]) == 1.0
    models.append(param(5.0))
    assert float(step()[0]) == 6.0


class Net(nnx.Module):
    """Two layers, and a number that people change."""

    def __init__(self) -> None:
        self.first = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
        self.scale = nnx.Param(jnp.ones(2))
        self.depth = 1

    def __call__(self) -> Any:
        return self.first.kernel[...].sum() * self.scale[...].sum() * self.depth


def test_a_replaced_submodule_is_noticed(mesh: Mesh) -> None:
    net = Net()
    step = spmd.Step(lambda: net(), mesh)
    step()
    net.first = nnx.Linear(2, 2, rngs=nnx.Rngs(1))
    np.testing.assert_allclose(step(), net(), rtol=1e-6)


def test_a_replaced_variable_of_a_module_is_noticed(mesh: Mesh) -> None:
    net = Net()
    step = spmd.Step(lambda: net(), mesh)
    step()
    net.scale = nnx.Param(jnp.full(2, 7.0))
    np.testing.assert_allclose(step(), net(), rtol=1e-6)


@pytest.mark.parametrize("value", [3, 2.5, True])
def test_a_plain_attribute_of_a_module_that_changes_is_noticed(mesh: Mesh, value: Any) -> None:
    net = Net()
    net.depth = type(value)(1)
    step = spmd.Step(lambda: net(), mesh)
    first = float(step())
    net.depth = value
    np.testing.assert_allclose(step(), first * value, rtol=1e-6)


def test_a_function_of_a_module_that_is_replaced_is_noticed(mesh: Mesh) -> None:
    class Activated(nnx.Module):
        def __init__(self) -> None:
            self.scale = nnx.Param(jnp.full(2, -1.0))
            self.activation = nnx.relu

        def __call__(self) -> Any:
            return self.activation(self.scale[...])

    net = Activated()
    step = spmd.Step(lambda: net(), mesh)
    np.testing.assert_array_equal(step(), [0.0, 0.0])
    net.activation = jnp.abs
    np.testing.assert_array_equal(step(), [1.0, 1.0])


def test_another_tx_of_an_optimizer_is_noticed(mesh: Mesh) -> None:
    net = Net()
    optimizer = nnx.Optimizer(net, optax.sgd(0.0), wrt=nnx.Param)

    def train() -> None:
        optimizer.update(net, nnx.grad(lambda net: net.scale[...].sum())(net))

    step = spmd.Step(train, mesh)
    step()
    np.testing.assert_allclose(net.scale[...], [1.0, 1.0])
    optimizer.tx = optax.sgd(0.25)
    step()
    # Two replicas, each with the gradient 1.
    np.testing.assert_allclose(net.scale[...], [0.5, 0.5])


# What changes, but is not the step's, must not make it compile again.

LOOP = """
class Counter:
    def __init__(self):
        self.{name} = spmd.Variable(jnp.zeros(()))

counter = Counter()

def train():
    counter.{name}.value = counter.{name}.value + 1
    return counter.{name}.value

compiled = spmd.Step(train, mesh)
{name} = 0
for {name} in range(6):
    compiled()
"""


@pytest.mark.parametrize("name", ["step", "loss", "epoch"])
def test_a_loop_variable_named_like_an_attribute_does_not_retrace(mesh: Mesh, name: str) -> None:
    # `step.value` in the function is an attribute; the script's own `step` is another thing.
    namespace: dict[str, Any] = {"spmd": spmd, "jnp": jnp, "mesh": mesh, "__name__": "a_script"}
    exec(LOOP.format(name=name), namespace)
    assert namespace["compiled"].trace_count == 1
    assert float(getattr(namespace["counter"], name).value) == 6.0


def test_a_local_variable_named_like_a_global_does_not_retrace(mesh: Mesh) -> None:
    namespace: dict[str, Any] = {"spmd": spmd, "jnp": jnp, "mesh": mesh, "__name__": "a_script"}
    script = """
    def train():
        loss = jnp.ones(())
        return loss * 2

    compiled = spmd.Step(train, mesh)
    loss = 0
    for _ in range(6):
        loss = compiled()
    """
    exec(textwrap.dedent(script), namespace)
    assert namespace["compiled"].trace_count == 1


def test_a_step_does_not_keep_models_alive_after_it_is_gone(mesh: Mesh) -> None:
    model = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
    step = spmd.Step(lambda m: m.kernel[...] * 2, mesh)
    step(model)
    alive = weakref.ref(model)
    del model, step
    gc.collect()
    assert alive() is None
