"""Variables: what replicas and the code between them write and read, and how variables are made."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from tests.golden.encoding import outcome
from tests.golden.scenarios.base import Case, Setting, scenario

GROUP = "variables"
AGGREGATIONS = ("NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA")
METHODS = ("assign", "assign_add", "assign_sub")


def _make(s: Setting, value: Any, synchronization: str, aggregation: str, **options: Any) -> Any:
    tf = s.tf
    return s.in_scope(
        lambda: tf.Variable(
            value,
            synchronization=tf.VariableSynchronization[synchronization],
            aggregation=tf.VariableAggregation[aggregation],
            **options,
        )
    )


def _components(variable: Any) -> list[Any]:
    """What each replica holds; where a variable has one value, that value."""
    held = getattr(variable, "values", [variable])
    return [component.numpy() if hasattr(component, "numpy") else component for component in held]


@scenario("var.assign_in_replica", GROUP)
def assign_in_replica(s: Setting) -> Iterator[Case]:
    tf = s.tf

    def assigned(variables: dict[str, Any]) -> dict[str, Any]:
        operand = s.number() + 1.0
        return {op: tf.identity(getattr(v, op)(operand)) for op, v in variables.items()}

    modes = [(mode, aggregation) for mode in ("AUTO", "ON_READ") for aggregation in AGGREGATIONS]
    for synchronization, aggregation in [*modes, ("NONE", "SUM")]:
        make = partial(_make, s, 10.0, synchronization, aggregation)
        yield from _of_one_mode(s, f"{synchronization}/{aggregation}", make, assigned)


def _of_one_mode(s: Setting, name: str, make: Any, assigned: Any) -> Iterator[Case]:
    tf, run = s.tf, s.strategy.run
    eager: dict[str, Any] = {}
    compiled: dict[str, Any] = {}

    def made(held: dict[str, Any]) -> dict[str, Any]:
        """Makes the variables; if they cannot be made, every case says so."""
        if not held:
            held.update({op: make() for op in METHODS})
        return held

    def create() -> dict:
        v = make()
        return {"trainable": v.trainable, "aggregation": v.aggregation.name}

    def returned() -> Any:
        made(eager)
        return run(lambda: assigned(eager))

    def replica_read() -> Any:
        made(eager)
        return run(lambda: {op: v.read_value() for op, v in eager.items()})

    def in_function() -> Any:
        made(compiled)
        return tf.function(partial(run, partial(assigned, compiled)))()

    yield f"{name}/create", create
    yield f"{name}/returned", returned
    for op in METHODS:
        yield f"{name}/{op}/components", lambda op=op: _components(made(eager)[op])
        yield f"{name}/{op}/read", lambda op=op: made(eager)[op].read_value()
    yield f"{name}/replica_read", replica_read
    yield f"{name}/tf.function/returned", in_function
    yield (
        f"{name}/tf.function/components",
        lambda: {op: _components(v) for op, v in made(compiled).items()},
    )


@scenario("var.assign_cross_replica", GROUP)
def assign_cross_replica(s: Setting) -> Iterator[Case]:
    tf, run = s.tf, s.strategy.run
    made = {
        f"{synchronization}/{aggregation}/{op}/{where}": _make(
            s, 10.0, synchronization, aggregation
        )
        for synchronization in ("ON_WRITE", "ON_READ")
        for aggregation in AGGREGATIONS
        for op in METHODS
        for where in ("in_scope", "outside")
    }

    def set_own(start: str) -> None:
        for name, v in made.items():
            if name.startswith(start):
                v.assign(s.number() + 1.0)

    for aggregation in AGGREGATIONS:
        # Central storage cannot, without an aggregation.
        outcome(lambda start=f"ON_READ/{aggregation}": run(lambda: set_own(start)))
    for name, v in made.items():
        op, where = name.split("/")[2:]

        def assign(v: Any = v, op: str = op) -> Any:
            return tf.convert_to_tensor(getattr(v, op)(8.0 if op == "assign" else 2.0))

        yield f"{name}/returned", partial(s.in_scope, assign) if where == "in_scope" else assign
        yield f"{name}/components", partial(_components, v)
        yield f"{name}/read", v.read_value
    v = _make(s, 10.0, "AUTO", "NONE")
    count = _make(s, 0, "ON_READ", "SUM", dtype=tf.int32)
    each = s.values([1.0 + r for r in range(s.n)])
    yield "per_replica/returned", lambda: tf.convert_to_tensor(v.assign(each))
    yield "per_replica/components", lambda: _components(v)
    yield "int_sum/returned", lambda: tf.convert_to_tensor(count.assign(7))
    yield "int_sum/components", lambda: _components(count)
    yield "int_sum/read", count.read_value
    yield "wrong_shape", lambda: v.assign([1.0, 2.0])
    yield "wrong_dtype", lambda: v.assign(tf.constant(1))


@scenario("var.on_read_after_run", GROUP)
def on_read_after_run(s: Setting) -> Iterator[Case]:
    tf, run = s.tf, s.strategy.run
    made: dict[str, Any] = {}

    def create(name: str, aggregation: str, dtype: Any) -> str:
        made[name] = _make(s, tf.zeros([2], dtype), "ON_READ", aggregation)
        return made[name].dtype.name

    names = []
    for aggregation in AGGREGATIONS:
        for dtype in ("float32", "int32", "float16"):
            name = f"{aggregation}/{dtype}"
            yield f"{name}/create", partial(create, name, aggregation, getattr(tf, dtype))
            if name == "MEAN/int32":
                made.pop(name, None)  # not with every strategy
            else:
                names.append(name)

    def add(step: Any, aggregation: str) -> None:
        for name, v in made.items():
            if name.startswith(aggregation):
                v.assign_add(tf.cast(tf.stack([step * (s.number() + 1.0), 1.0]), v.dtype))

    def add_all(step: float) -> None:
        for aggregation in AGGREGATIONS:
            # Central storage cannot, without an aggregation.
            outcome(partial(run, add, args=(tf.constant(step), aggregation)))

    def look(name: str) -> dict:
        v = made[name]
        one = tf.cast(1, v.dtype)
        return {"components": _components(v), "read": v.read_value(), "plus_1": v + one}

    def reset(name: str) -> list:
        # Without an aggregation the assigned value cannot be read, which TensorFlow does at once.
        outcome(lambda: made[name].assign(tf.zeros([2], made[name].dtype)))
        return _components(made[name])

    for step in (1, 2, 3):
        add_all(float(step))
        yield (
            f"replica_read/{step}",
            lambda: run(lambda: {name: v.read_value() for name, v in made.items()}),
        )
        for name in names:
            yield f"{name}/{step}", partial(look, name)
            if name.startswith("NONE"):
                yield f"{name}/{step}/components", lambda name=name: _components(made[name])
    for name in names:
        yield f"{name}/reset", partial(reset, name)
    add_all(1.0)
    for name in names:
        yield f"{name}/after_reset", partial(look, name)


@scenario("var.creation", GROUP)
def creation(s: Setting) -> Iterator[Case]:
    tf, strategy, run = s.tf, s.strategy, s.strategy.run
    make = partial(_make, s, 1.0)
    calls: list[int] = []

    def initial() -> Any:
        calls.append(1)
        return tf.constant(float(len(calls)))

    with strategy.scope():
        v = tf.Variable(initial, name="vv")
        w = tf.Variable([1.0, 2.0], name="ww", trainable=False)
        unnamed = tf.Variable(0)
    own = _make(s, 0.0, "ON_READ", "SUM", name="own")
    run(lambda: own.assign(s.number() + 1.0))
    yield "initializer_calls", lambda: len(calls)
    yield "components", lambda: _components(v)
    yield "name", lambda: [v.name, w.name, unnamed.name, own.name]
    yield "component_names", lambda: [c.name for c in getattr(v, "values", [v])]
    yield "device", lambda: v.device
    yield "trainable", lambda: [v.trainable, w.trainable, own.trainable]
    yield "shape", lambda: [list(v.shape), list(w.shape), list(w.get_shape())]
    yield "dtype", lambda: [v.dtype.name, unnamed.dtype.name]
    yield "repr", lambda: repr(w)
    yield "repr/on_read", lambda: repr(own)
    yield "str", lambda: str(v)
    yield "numpy", lambda: w.numpy()
    yield "aggregation", lambda: v.aggregation.name
    yield "synchronization", lambda: v.synchronization.name
    values, mirrored = tf.distribute.DistributedValues, strategy.experimental_local_results
    yield "is_Variable", lambda: [isinstance(v, tf.Variable), isinstance(own, tf.Variable)]
    yield "is_DistributedValues", lambda: [isinstance(v, values), isinstance(own, values)]
    yield "is_tensor", lambda: tf.is_tensor(v)
    yield "local_results", lambda: [tf.convert_to_tensor(one) for one in mirrored(v)]
    yield "local_results/on_read", lambda: [tf.convert_to_tensor(one) for one in mirrored(own)]
    yield "local_results/count", lambda: len(mirrored(w))
    yield "hash", lambda: hash(v)
    yield "ref", lambda: [v.ref() == v.ref(), v.ref() == w.ref(), v.ref().deref() is v]
    yield "equal", lambda: tf.convert_to_tensor(w == w)
    yield "equal/same_object", lambda: w is w
    yield "bool", lambda: bool(v)
    yield "getitem", lambda: w[1]
    yield "unknown_attribute", lambda: v.foo
    yield "distribute_strategy", lambda: v.distribute_strategy is strategy

    two = tf.constant([3.0, 4.0])
    with strategy.scope():
        first, second, third = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0]), tf.Variable(1.0)
    yield "assign_in_run", lambda: run(lambda: tf.identity(first.assign(two)))
    outside = tf.Variable(7.0)
    yield "outside/read_in_run", lambda: run(lambda: outside + s.number())
    yield "outside/assign_in_run", lambda: run(lambda: tf.identity(outside.assign_add(1.0)))
    yield "outside/after", lambda: outside.numpy()
    held: list[Any] = []

    def in_run() -> Any:
        held.append(tf.Variable(s.number() + 5.0))
        return held[-1].read_value()

    yield "in_run/read", lambda: run(in_run)
    yield "in_run/same_object", lambda: all(one is held[0] for one in held)

    def in_run_constant() -> Any:
        held.append(tf.Variable(5.0))
        return held[-1] * 2.0

    yield "in_run_constant/read", lambda: run(in_run_constant)
    yield "in_run_constant/after", lambda: held[-1].numpy()

    once: list[Any] = []

    def in_function() -> Any:
        if not once:
            once.append(s.in_scope(lambda: tf.Variable(1.0)))
        return once[0].assign_add(1.0)

    def twice() -> Any:
        function = tf.function(in_function)
        function()
        return tf.convert_to_tensor(function())

    yield "in_function", twice
    on_read = partial(make, "ON_READ", "SUM")
    yield "on_read/trainable=True", lambda: on_read(trainable=True).trainable
    yield "on_read/trainable=None", lambda: on_read(trainable=None).trainable
    variable = tf.Variable
    yield "bad_synchronization", lambda: s.in_scope(lambda: variable(1.0, synchronization="foo"))
    yield "bad_aggregation", lambda: s.in_scope(lambda: variable(1.0, aggregation="foo"))
    yield "no_value", lambda: s.in_scope(lambda: variable())
    yield "other_shape", lambda: s.in_scope(lambda: variable(1.0, shape=[2]))
    yield "dtype=int32", lambda: s.in_scope(lambda: variable(3.0, dtype=tf.int32))
    yield "from_variable", lambda: s.in_scope(lambda: variable(w))
    for modes in (tf.VariableAggregation, tf.VariableSynchronization):
        members = {key: member.value for key, member in modes.__members__.items()}
        yield f"members/{'AUTO' in members}", lambda members=members: members

    reduce = strategy.reduce
    yield "run_returns", lambda: run(lambda: v)
    yield "run_returns/on_read", lambda: run(lambda: own)
    yield "run_argument", lambda: run(lambda x: x * 2.0, args=(w,))
    yield "run_argument/on_read", lambda: run(lambda x: x * 2.0, args=(own,))
    yield (
        "run_argument/assigned",
        lambda: run(lambda x: x.assign_add([1.0, 1.0]) * 1.0, args=(second,)),
    )
    yield "arithmetic", lambda: w * 2.0 + 1.0
    yield "arithmetic/reversed", lambda: 1.0 - w / 2.0
    yield "arithmetic/in_scope", lambda: s.in_scope(lambda: w * 2.0)
    yield "arithmetic/on_read", lambda: own * 2.0
    yield "functions", lambda: tf.reduce_sum(tf.square(w))
    yield "reduce/read", lambda: reduce("SUM", run(lambda: w.read_value()), axis=None)
    for op in ("SUM", "MEAN"):
        yield f"reduce/{op}", lambda op=op: reduce(op, v, axis=None)
        yield f"reduce/{op}/axis=0", lambda op=op: reduce(op, w, axis=0)
        yield f"reduce/on_read/{op}", lambda op=op: reduce(op, own, axis=None)
    yield "gather", lambda: strategy.gather(w, axis=0)
    yield "chained", lambda: tf.convert_to_tensor(third.assign(2.0).assign_add(1.0))

    def gradient() -> Any:
        with tf.GradientTape() as tape:
            y = v * v * (s.number() + 1.0)
        return tape.gradient(y, v)

    yield "gradient", lambda: run(gradient)
    other = tf.distribute.OneDeviceStrategy("CPU:0")
    yield "other_strategy_reads", lambda: other.run(lambda: v + 1.0)
