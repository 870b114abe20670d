"""What `fit`, `evaluate` and `predict` read under a strategy: Grain, Keras's `PyDataset`, distributed datasets."""

import functools

import grain
import numpy as np
import pytest

from frontends import tf
from tests.frontends.tf.keras.strategies import mirrored

# 22 rows in batches of 8: the last one has 6, so that the fourth replica gets none.
X = np.random.default_rng(0).normal(size=(22, 3)).astype(np.float32)
Y = (X @ [[1.0], [2.0], [3.0]]).astype(np.float32)

# Keras alone says so, too, for all data whose length it does not know.
pytestmark = pytest.mark.filterwarnings("ignore:Your input ran out of data:UserWarning")


class Rows:
    """Random access, as Grain wants it."""

    def __len__(self):
        return 22

    def __getitem__(self, index):
        return X[index], Y[index]


class Batches(tf.keras.utils.PyDataset):
    def __len__(self):
        return 3

    def __getitem__(self, index):
        rows = slice(index * 8, index * 8 + 8)
        return X[rows], Y[rows]


def loader():
    sampler = grain.samplers.IndexSampler(
        22, grain.sharding.NoSharding(), shuffle=False, num_epochs=1, seed=0
    )
    batch = grain.transforms.Batch(8, drop_remainder=False)
    return grain.DataLoader(data_source=Rows(), sampler=sampler, operations=[batch])


def dataset():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)


SOURCES = {
    "MapDataset": lambda: grain.MapDataset.source(Rows()).batch(8),
    "IterDataset": lambda: grain.MapDataset.source(Rows()).to_iter_dataset().batch(8),
    "DataLoader": loader,
    "PyDataset": Batches,
    "PyDataset in threads": lambda: Batches(workers=2, max_queue_size=3),
    "tf.data": dataset,
}


def regression():
    tf.keras.utils.set_random_seed(0)
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, "relu"), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"])
    return model


def results(model, source):
    """History with validation, evaluation and predictions, each from a source of its own."""
    options = {"epochs": 2, "verbose": 0, "shuffle": False}
    history = model.fit(source(), validation_data=source(), **options).history
    return history, model.evaluate(source(), verbose=0), model.predict(source(), verbose=0)


@functools.cache
def expected(name="tf.data"):
    """What Keras alone gives: the same from each source, but for the order in which its threads read."""
    return results(regression(), SOURCES[name])


def assert_close(ours, theirs):
    assert ours[0].keys() == theirs[0].keys()
    for one, other in zip(tf.nest.flatten(ours), tf.nest.flatten(theirs), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


COUNTS = [pytest.param(2, marks=pytest.mark.slow), 4]


def rarely(name, *names):
    return pytest.param(name, marks=pytest.mark.slow if name in names else ())


@pytest.mark.parametrize("replicas", COUNTS)
@pytest.mark.parametrize(
    "name", [rarely(name, *(SOURCES.keys() - {"PyDataset"})) for name in SOURCES]
)
def test_every_source_gives_what_keras_alone_gives(name, replicas):
    with mirrored(replicas).scope():
        model = regression()
    same = "tf.data" if name != "PyDataset in threads" else name
    assert_close(results(model, SOURCES[name]), expected(same))


@pytest.mark.parametrize("replicas", COUNTS)
def test_a_distributed_dataset_everywhere(replicas):
    strategy = mirrored(replicas)
    with strategy.scope():
        model = regression()
    source = functools.partial(strategy.experimental_distribute_dataset, dataset())
    assert_close(results(model, source), expected())


# The tests above compare predictions, too: here is their order, once.
@pytest.mark.parametrize("name", [*(rarely(name, *SOURCES) for name in SOURCES), "distributed"])
def test_predictions_are_as_many_and_in_order(name):
    strategy = mirrored(4)
    with strategy.scope():
        model = regression()
    by_hand = np.asarray(model(X))
    source = SOURCES.get(name, lambda: strategy.experimental_distribute_dataset(dataset()))
    found = model.predict(source(), verbose=0)
    np.testing.assert_allclose(found, by_hand, rtol=1e-5, atol=1e-6)


def test_an_endless_distributed_dataset_and_its_steps():
    strategy = mirrored(2)
    with strategy.scope():
        model = regression()
    endless = strategy.experimental_distribute_dataset(dataset().repeat())
    options = {"epochs": 2, "steps_per_epoch": 3, "validation_steps": 3, "verbose": 0}
    history = model.fit(endless, validation_data=endless, **options).history
    wanted = expected()
    assert history["loss"] == pytest.approx(wanted[0]["loss"], rel=1e-5)
    assert history["val_loss"] == pytest.approx(wanted[0]["val_loss"], rel=1e-5)
    assert model.evaluate(endless, steps=3, verbose=0) == pytest.approx(wanted[1], rel=1e-5)
    assert model.predict(endless, steps=4, verbose=0).shape == (30, 1)
