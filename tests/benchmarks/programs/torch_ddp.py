"""The MNIST network in PyTorch, on two processes with DistributedDataParallel over gloo."""

import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.programs import digits
from tests.benchmarks.programs.mnist import BATCH, STEPS
from tests.benchmarks.turns import Ready


def workers(tf: None, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """A training loop; the digits are shuffled by indexing."""
    import torch
    from torch import distributed, nn

    config = json.loads(os.environ["TF_CONFIG"])
    rank, addresses = config["task"]["index"], config["cluster"]["worker"]
    distributed.init_process_group(
        "gloo", init_method=f"tcp://{addresses[0]}", rank=rank, world_size=len(addresses)
    )
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // len(addresses)))
    images, labels = digits.scaled(path, BATCH * STEPS)
    x, y = torch.tensor(images.transpose(0, 3, 1, 2)), torch.tensor(labels.astype(np.int64))
    network = nn.Sequential(
        *[nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()],
        *[nn.Linear(13 * 13 * 32, 64), nn.ReLU(), nn.Linear(64, 10)],
    )
    _same_weights(network)
    model = nn.parallel.DistributedDataParallel(network)
    # Keras's Adam: another epsilon.
    optimizer = torch.optim.Adam(model.parameters(), 1e-3, eps=1e-7)
    losses = nn.CrossEntropyLoss()
    mine = slice(rank * BATCH // len(addresses), (rank + 1) * BATCH // len(addresses))

    def train(rows: Any) -> Any:
        optimizer.zero_grad()
        loss = losses(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
        return loss.detach()

    for _ in range(3):
        check = train(torch.arange(BATCH)[mine])
    distributed.all_reduce(check)

    generator = torch.Generator().manual_seed(0)

    def turn() -> None:
        order = torch.randperm(len(y), generator=generator)
        for step in range(STEPS):
            loss = train(order[step * BATCH : (step + 1) * BATCH][mine])
        loss.item()

    turn()
    return Ready(STEPS, float(check) / len(addresses)), turn


def _same_weights(network: Any) -> None:
    """Those of `same_weights`, whose arrays have channels last."""
    import torch

    from tests.benchmarks.programs.weights import initial

    generator = np.random.default_rng(0)
    shapes = [(3, 3, 1, 32), (32,), (13 * 13 * 32, 64), (64,), (64, 10), (10,)]
    kernel, *rest = [initial(generator, shape) for shape in shapes]
    # Keras flattens (13, 13, 32), PyTorch (32, 13, 13).
    rest[1] = rest[1].reshape(13, 13, 32, 64).transpose(2, 0, 1, 3).reshape(-1, 64)
    values = [kernel.transpose(3, 2, 0, 1), *[value.T for value in rest]]
    with torch.no_grad():
        for parameter, value in zip(network.parameters(), values, strict=True):
            parameter.copy_(torch.tensor(np.ascontiguousarray(value)))
