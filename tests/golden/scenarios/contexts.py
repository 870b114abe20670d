"""Which strategy is in force where, what may stand inside of what, and how strategies are made."""

import contextlib
from collections.abc import Iterator

from tests.golden.scenarios.base import NONE, Case, Setting, scenario

GROUP = "context"


def _where(s: Setting) -> dict:
    d = s.tf.distribute
    return {
        "has_strategy": d.has_strategy(),
        "in_cross_replica_context": d.in_cross_replica_context(),
        "replica_context_is_none": d.get_replica_context() is None,
        "strategy_is_ours": d.get_strategy() is s.strategy,
        "num_replicas_in_sync": d.get_strategy().num_replicas_in_sync,
    }


def _raise(error: Exception) -> None:
    raise error


def _swallow(function) -> None:
    with contextlib.suppress(KeyError, ZeroDivisionError):
        function()


@scenario("context.where", GROUP)
def where(s: Setting) -> Iterator[Case]:
    tf, run, scope = s.tf, s.strategy.run, s.strategy.scope

    def seen_by(call) -> dict:
        """What the first replica's code sees; TensorFlow runs it on each, ours is traced once."""
        seen: list = []
        call(lambda: seen.append(_where(s)))
        return seen[0]

    yield "outside", lambda: _where(s)
    yield "scope", lambda: s.in_scope(lambda: _where(s))

    def nested():
        with scope():
            with scope():
                inner = _where(s)
            return {"inner": inner, "after_inner": _where(s)}

    yield "nested_same", nested
    yield "run", lambda: seen_by(lambda look: run(lambda: look()))
    yield "run_in_scope", lambda: s.in_scope(lambda: seen_by(lambda look: run(lambda: look())))
    yield (
        "merge_call",
        lambda: seen_by(lambda look: run(lambda: s.context().merge_call(lambda _: look()))),
    )
    _swallow(lambda: s.in_scope(lambda: _raise(KeyError("x"))))
    yield "after_exception", lambda: _where(s)
    _swallow(lambda: run(lambda: 1 / 0))
    yield "after_exception_in_run", lambda: _where(s)

    def compiled():
        between: list = []
        inside: list = []

        @tf.function
        def program():
            between.append(_where(s))
            run(lambda: inside.append(_where(s)))
            return 0

        s.in_scope(program)
        return {"between": between[0], "inside": inside[0]}

    yield "tf.function_in_scope", compiled

    def updated():
        v = tf.Variable(1.0)
        return seen_by(lambda look: s.strategy.extended.update(v, lambda x: look()))

    yield "extended_update", lambda: s.in_scope(updated)

    def as_name():
        with scope() as found:
            return found is s.strategy

    yield "scope_as", as_name

    def again():
        once = scope()
        with once:
            pass
        with once:
            return "ok"

    yield "scope_object_reentry", again


@scenario("context.errors", GROUP)
def errors(s: Setting) -> Iterator[Case]:
    tf, strategy, run = s.tf, s.strategy, s.strategy.run
    other = tf.distribute.OneDeviceStrategy("CPU:0")
    same = tf.distribute.MirroredStrategy([f"CPU:{index}" for index in range(s.n)])
    default = tf.distribute.get_strategy()

    def scope_of(which):
        with which.scope():
            return _where(s)

    yield "other_scope_in_scope", lambda: s.in_scope(lambda: scope_of(other))
    yield "equal_mirrored_in_scope", lambda: s.in_scope(lambda: scope_of(same))
    yield "default_scope_in_scope", lambda: s.in_scope(lambda: scope_of(default))
    yield "state_after", lambda: _where(s)
    yield "other_run_in_scope", lambda: s.in_scope(lambda: other.run(lambda: 3.0))
    yield "run_in_run", lambda: run(lambda: run(lambda: 1.0))
    yield "run_in_run_other", lambda: run(lambda: other.run(lambda: 1.0))
    yield "scope_in_run", lambda: run(lambda: s.in_scope(lambda: 1.0))
    yield "other_scope_in_run", lambda: run(lambda: (scope_of(other), 1.0)[1])

    def merge(function):
        return run(lambda: s.context().merge_call(function))

    one = tf.constant(1.0)
    yield "run_in_merge", lambda: merge(lambda st: st.run(lambda: tf.constant(2.0)))
    yield "reduce_in_run", lambda: run(lambda: strategy.reduce("SUM", one, axis=None))
    yield "local_results_in_run", lambda: run(lambda: strategy.experimental_local_results(one))
    distribute = strategy.experimental_distribute_dataset
    dataset = tf.data.Dataset.range(4).batch(4)
    yield "dist_dataset_in_run", lambda: run(lambda: (distribute(dataset), 1.0)[1])
    yield "iterate_in_run", lambda: run(lambda: len(list(distribute(dataset))))
    yield "scope_in_merge", lambda: merge(lambda st: (scope_of(st), 5)[1])
    context = tf.distribute.get_replica_context
    yield "merge_call_outside", lambda: context().merge_call(lambda _: 1)
    yield "merge_call_in_scope", lambda: s.in_scope(lambda: context().merge_call(lambda _: 1))
    leaked: list = []
    run(lambda: leaked.append(context()))
    yield "leaked_ctx_merge_call", lambda: leaked[0].merge_call(lambda _: 1)
    yield "leaked_ctx_id", lambda: leaked[0].replica_id_in_sync_group
    yield "leaked_ctx_all_reduce", lambda: leaked[0].all_reduce("SUM", one)
    yield "run_non_callable", lambda: run(3)
    yield "run_wrong_arity", lambda: run(lambda a: a)

    def last_fails():
        if int(s.replica_id()) == s.n - 1:
            raise KeyError("last replica")
        return one

    def differ():
        return {"a": one} if int(s.replica_id()) == 0 else (one, one)

    yield "last_replica_raises", lambda: run(last_fails)
    yield "different_structures", lambda: run(differ)
    set_strategy = tf.distribute.experimental_set_strategy
    yield "set_strategy_in_scope", lambda: s.in_scope(lambda: set_strategy(other))
    yield "set_strategy_none_outside", lambda: set_strategy(None)
    yield "state_end", lambda: _where(s)


@scenario("context.constructors", GROUP, NONE)
def constructors(s: Setting) -> Iterator[Case]:
    d = s.tf.distribute
    mirrored, one_device = d.MirroredStrategy, d.OneDeviceStrategy

    def info(make):
        def report():
            strategy = make()
            value = strategy.run(lambda: s.number() + 1.0)
            return {
                "n": strategy.num_replicas_in_sync,
                "devices": list(strategy.extended.worker_devices),
                "sum": strategy.reduce("SUM", value, axis=None),
            }

        return report

    yield "dup", info(lambda: mirrored(["CPU:0", "CPU:0"]))
    yield "string", info(lambda: mirrored("CPU:0"))
    yield "missing_dev", info(lambda: mirrored(["CPU:77"]))
    yield "int", info(lambda: mirrored(2))
    yield "tuple", info(lambda: mirrored(("CPU:0",)))
    yield "two", info(lambda: mirrored(["CPU:0", "CPU:1"]))
    yield "full_names", info(lambda: mirrored(["/job:localhost/replica:0/task:0/device:CPU:0"]))
    yield "gpu", info(lambda: mirrored(["GPU:77"]))
    yield "mixed", info(lambda: mirrored(["CPU:0", "GPU:77"]))
    yield "slash", info(lambda: mirrored(["/cpu:0"]))
    yield "nonsense", info(lambda: mirrored(["foo"]))
    for name in ("ReductionToOneDevice", "HierarchicalCopyAllReduce", "NcclAllReduce"):
        make = getattr(d, name)
        yield f"cross_{name}", info(lambda make=make: mirrored(["CPU:0"], cross_device_ops=make()))
    yield "bad_cross", info(lambda: mirrored(["CPU:0"], cross_device_ops="foo"))
    yield "one_bad", info(lambda: one_device("CPU:77"))
    yield "one_none", info(lambda: one_device(None))
    yield "one_int", info(lambda: one_device(0))
    yield "one_ok", info(lambda: one_device("/cpu:0"))
    central = d.experimental.CentralStorageStrategy
    yield "central_two", info(lambda: central(["CPU:0", "CPU:1"], "CPU:0"))
    yield "central_one", info(lambda: central(["CPU:1"]))
