"""How many bytes a step moves to and from parameter servers: `python -m tests.benchmarks.server_traffic ROWS`.

A step looks up rows of a table, and sends what is to become of them. What it moves depends on the rows that it looks up,
not on the size of the table. Bytes are those of the arrays in the messages.
"""

import json
import sys
from collections.abc import Iterable
from typing import Any

import jax
import numpy as np

from frontends import tf
from spmd.servers import Store

WIDTH = 64
STEPS = 10
LOOKED_UP = (64, 512, 4096)


class CountingStore(Store):
    """A store that counts the bytes of the arrays that pass.

    Attributes:
        moved: how many passed.
    """

    def __init__(self) -> None:
        """Makes an empty store."""
        super().__init__()
        self.moved = 0

    def _count(self, value: Any) -> Any:
        leaves: Iterable[Any] = jax.tree.leaves(value)
        self.moved += sum(leaf.nbytes for leaf in leaves if isinstance(leaf, np.ndarray))
        return value

    def pull(self, versions: Any) -> Any:
        """See `Store.pull`."""
        return self._count(super().pull(versions))

    def rows(self, wanted: Any) -> Any:
        """See `Store.rows`."""
        return self._count(super().rows(self._count(wanted)))

    def push(self, changes: Any) -> None:
        """See `Store.push`."""
        for change in changes:
            self._count(change.operand)
            self._count(change.index)
        super().push(changes)


def measure(rows: int) -> list[dict[str, str]]:
    """Measures steps on a table.

    Args:
        rows: of the table.

    Returns:
        Rows of the report, one for each number of rows that a step looks up.
    """
    store = CountingStore()
    strategy = tf.distribute.ParameterServerStrategy()
    strategy.server_variables._stores = [store]  # pyright: ignore[reportPrivateUsage]
    with strategy.scope():
        table = tf.Variable(np.zeros((rows, WIDTH), np.float32))
        optimizer = tf.keras.optimizers.Adagrad(0.1)
        optimizer.build([table])
    report: list[dict[str, str]] = []
    generator = np.random.default_rng(0)
    for count in LOOKED_UP:

        @tf.function
        def step(ids: Any) -> Any:
            def replica(ids: Any) -> Any:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum((tf.nn.embedding_lookup(table, ids) - 1.0) ** 2)
                optimizer.apply_gradients([(tape.gradient(loss, table), table)])
                return loss

            return strategy.run(replica, args=(ids,))

        step(tf.constant(generator.choice(rows, count, replace=False).astype(np.int32)))
        before = store.moved
        for _ in range(STEPS):
            step(tf.constant(generator.choice(rows, count, replace=False).astype(np.int32)))
        moved = (store.moved - before) / STEPS
        report.append(
            {
                "rows of the table": f"{rows:,}",
                "MB of the table": f"{rows * WIDTH * 4 / 1e6:,.0f}",
                "rows looked up": f"{count:,}",
                "kB a step": f"{moved / 1e3:,.0f}",
                "bytes a row looked up": f"{moved / count:,.0f}",
            }
        )
    return report


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]))))
