"""What checkpoints are called, which are kept, what a status asserts, and what comes back."""

import contextlib
import itertools
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.golden.scenarios.base import MIRRORED, NONE, Case, Setting, scenario

GROUP = "checkpoint"
_CHECKS = ("assert_consumed", "assert_existing_objects_matched", "assert_nontrivial_match")


def _folder() -> str:
    return tempfile.mkdtemp()


def _name(path: str | None) -> str | None:
    return path and os.path.basename(path)


def _passes(status: Any) -> dict:
    """Which assertions hold."""
    held = {}
    for check in _CHECKS:
        held[check] = False
        with contextlib.suppress(AssertionError):
            held[check] = getattr(status, check)() is status
    return held


@scenario("checkpoint.names", GROUP, NONE)
def names(s: Setting) -> Iterator[Case]:
    tf = s.tf

    def checkpoint(**variables: float) -> Any:
        return tf.train.Checkpoint(**{k: tf.Variable(v) for k, v in variables.items()})

    def saved() -> dict:
        folder, kept = _folder(), checkpoint(v=1.0)
        paths = [_name(kept.save(os.path.join(folder, "a", "ckpt"))) for _ in range(3)]
        written = _name(kept.write(os.path.join(folder, "b")))
        state = tf.train.get_checkpoint_state(os.path.join(folder, "a"))
        return {
            "paths": paths,
            "written": written,
            "counter": int(kept.save_counter.numpy()),
            "latest": _name(tf.train.latest_checkpoint(os.path.join(folder, "a"))),
            "all": [_name(path) for path in state.all_model_checkpoint_paths],
        }

    yield "save", saved

    def managed(saves: int, **options: Any) -> dict:
        folder, kept, seen = _folder(), checkpoint(v=1.0), []
        for _ in range(2):  # the second one goes on
            manager = tf.train.CheckpointManager(kept, folder, **{"max_to_keep": 2, **options})
            seen.append([_name(manager.restore_or_initialize())])
            for _ in range(saves):
                seen[-1].append(_name(manager.save()))
            seen[-1].append([_name(path) for path in manager.checkpoints])
        return {"seen": seen, "latest": _name(manager.latest_checkpoint)}

    yield "manager", lambda: managed(3)
    yield "manager_keeps_all", lambda: managed(3, max_to_keep=None)
    yield "manager_other_name", lambda: managed(1, checkpoint_name="model")

    def interval(check: bool) -> list:
        step = tf.Variable(0)
        manager = tf.train.CheckpointManager(
            checkpoint(v=1.0), _folder(), None, step_counter=step, checkpoint_interval=2
        )
        found = []
        for value in (0, 0, 1, 2, 3, 7, 8):
            step.assign(value)
            found.append(_name(manager.save(check_interval=check)))
        return found

    yield "interval", lambda: interval(True)
    yield "interval_unchecked", lambda: interval(False)

    def listed() -> list:
        path = checkpoint(v=1.0, w=[1.0, 2.0]).save(os.path.join(_folder(), "ckpt"))
        # TensorFlow lists its object graph as well.
        return [[n, list(shape)] for n, shape in tf.train.list_variables(path) if n[0] != "_"]

    yield "list_variables", listed

    def read(name: str) -> Any:
        path = checkpoint(v=1.0, w=[1.0, 2.0]).save(os.path.join(_folder(), "ckpt"))
        return np.asarray(tf.train.load_variable(path, name)).tolist()

    yield "load_variable", lambda: read("w/.ATTRIBUTES/VARIABLE_VALUE")


@scenario("checkpoint.status", GROUP, NONE)
def status(s: Setting) -> Iterator[Case]:
    tf = s.tf
    things = ("", "v", "vw")

    def checkpoint(names: str, value: float) -> Any:
        return tf.train.Checkpoint(**{name: tf.Variable(value) for name in names})

    def restored(saved: str, into: str) -> dict:
        path = checkpoint(saved, 1.0).write(os.path.join(_folder(), "ckpt"))
        target = checkpoint(into, 0.0)
        found = _passes(target.read(path).expect_partial())
        return found | {name: float(getattr(target, name).numpy()) for name in into}

    for saved, into in itertools.product(things, things):
        yield f"{saved or 'none'}_into_{into or 'none'}", lambda s=saved, i=into: restored(s, i)

    def later() -> list:
        path = checkpoint("v", 1.0).write(os.path.join(_folder(), "ckpt"))
        target = tf.train.Checkpoint()
        of = target.read(path)
        found = [_passes(of)]
        target.v = tf.Variable(0.0)
        return [*found, _passes(of), float(target.v.numpy())]

    yield "set_later", later

    def shared() -> list:
        one = tf.Variable(1.0)
        path = tf.train.Checkpoint(a=one, b=[one]).write(os.path.join(_folder(), "ckpt"))
        target = tf.train.Checkpoint(b=[tf.Variable(0.0)])
        return [_passes(target.read(path)), float(target.b[0].numpy())]

    yield "shared_by_another_name", shared

    def written(read: str) -> dict:
        path = checkpoint("v", 1.0).write(os.path.join(_folder(), "ckpt"))
        return _passes(getattr(checkpoint("v", 0.0), read)(path).expect_partial())

    yield "restore_of_write", lambda: written("restore")
    yield "nothing", lambda: _passes(checkpoint("v", 1.0).restore(None).expect_partial())
    yield "missing", lambda: checkpoint("v", 1.0).restore(os.path.join(_folder(), "ckpt-1"))
    yield (
        "other_shape",
        lambda: tf.train.Checkpoint(v=tf.Variable([0.0, 0.0])).read(
            checkpoint("v", 1.0).write(os.path.join(_folder(), "ckpt"))
        ),
    )
    yield "not_trackable", lambda: tf.train.Checkpoint(v=object())


@scenario("checkpoint.values", GROUP, MIRRORED)
def values(s: Setting) -> Iterator[Case]:
    tf = s.tf

    def variable(aggregation: str, synchronization: str) -> Any:
        return tf.Variable(
            0.0,
            aggregation=getattr(tf.VariableAggregation, aggregation),
            synchronization=getattr(tf.VariableSynchronization, synchronization),
        )

    def per_replica(aggregation: str) -> dict:
        first, second = (s.in_scope(lambda: variable(aggregation, "ON_READ")) for _ in range(2))
        s.strategy.run(lambda: first.assign(tf.cast(s.replica_id(), tf.float32) * 4.0 + 1.0))
        path = tf.train.Checkpoint(v=first).write(os.path.join(_folder(), "ckpt"))
        alone = tf.Variable(0.0)
        tf.train.Checkpoint(v=second).read(path)
        tf.train.Checkpoint(v=alone).read(path)
        replicas = s.strategy.experimental_local_results(s.strategy.run(second.read_value))
        return {
            "replicas": [float(value) for value in replicas],
            "all": float(second.read_value()),
            "without_strategy": float(alone.numpy()),
        }

    for aggregation in ("SUM", "MEAN", "ONLY_FIRST_REPLICA"):
        yield f"on_read_{aggregation}", lambda a=aggregation: per_replica(a)

    def model(build: bool) -> Any:
        layers = [
            tf.keras.layers.Dense(3, "tanh", kernel_initializer="ones", bias_initializer="ones"),
            tf.keras.layers.Dense(1, kernel_initializer="ones"),
        ]
        inputs = [tf.keras.Input((2,))] if build else []
        return tf.keras.Sequential(inputs + layers)

    def continued(build: bool, alone: bool) -> dict:
        """Two batches, a checkpoint, and two more by another model."""
        x = np.arange(16, dtype=np.float32).reshape(8, 2) / 8
        batches = tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(4)

        def trained(into: Any, path: str | None) -> tuple[list[float], Any]:
            network = model(build)
            optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
            checkpoint = tf.train.Checkpoint(model=network, optimizer=optimizer)
            status = checkpoint.restore(path)

            def step(batch: Any) -> Any:
                rows, targets = batch
                with tf.GradientTape() as tape:
                    losses = tf.reduce_sum((network(rows) - targets) ** 2, axis=1)
                    loss = tf.nn.compute_average_loss(losses, global_batch_size=4)
                gradients = tape.gradient(loss, network.trainable_variables)
                optimizer.apply_gradients(zip(gradients, network.trainable_variables, strict=True))
                return loss

            @tf.function
            def train(batch: Any) -> Any:
                return into.reduce("SUM", into.run(step, args=(batch,)), axis=None)

            losses = [float(train(b)) for b in into.experimental_distribute_dataset(batches)]
            if path is not None:
                status.assert_consumed()
            return losses, checkpoint

        with s.strategy.scope():
            before, checkpoint = trained(s.strategy, None)
        path = checkpoint.save(os.path.join(_folder(), "ckpt"))
        if alone:
            after, _ = trained(tf.distribute.get_strategy(), path)
        else:
            with s.strategy.scope():
                after, _ = trained(s.strategy, path)
        return {"before": before, "after": after}

    yield "continued", lambda: continued(True, False)
    yield "continued_built_later", lambda: continued(False, False)
    yield "continued_without_strategy", lambda: continued(True, True)
