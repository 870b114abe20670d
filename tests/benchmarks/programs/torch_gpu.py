"""The networks of `accelerated` in PyTorch on a GPU, as its documentation has them trained: autocast to bfloat16, no compiler."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.benchmarks.programs import accelerated
from tests.benchmarks.programs.accelerated import HEADS, LAYERS, PICTURES, TEXTS, WIDTH, WORDS
from tests.benchmarks.turns import Ready


def resnet(tf: None, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """ResNet50 of torchvision, channels last."""
    import torch
    import torchvision

    network = torchvision.models.resnet50().cuda().to(memory_format=torch.channels_last)

    def scores(pictures: Any) -> Any:
        return network(pictures.permute(0, 3, 1, 2) / 255)

    return _train(network, scores, accelerated.pictures, PICTURES, 10)


def transformer(tf: None, devices: int, path: str) -> tuple[Ready, Callable[[], None]]:
    """The language model, with PyTorch's fused attention."""
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
            self.three, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x: Any) -> Any:
            rows, length, _ = x.shape
            parts = self.three(self.before(x)).view(rows, length, 3, HEADS, WIDTH // HEADS)
            query, key, value = parts.permute(2, 0, 3, 1, 4)
            found = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
            x = x + self.out(found.transpose(1, 2).reshape(rows, length, WIDTH))
            return x + self.narrow(nn.functional.gelu(self.wide(self.after(x))))

    network = nn.Sequential(
        nn.Embedding(WORDS, WIDTH), *[Block() for _ in range(LAYERS)], nn.Linear(WIDTH, WORDS)
    ).cuda()
    torch.set_float32_matmul_precision("high")
    return _train(network, lambda words: network(words).flatten(0, 1), accelerated.texts, TEXTS, 20)


def _train(
    network: Any,
    scores: Callable[[Any], Any],
    draw: Callable[[np.random.Generator, int], tuple[Any, Any]],
    rows: int,
    steps: int,
) -> tuple[Ready, Callable[[], None]]:
    import torch
    from torch import nn

    optimizer, losses = torch.optim.Adam(network.parameters(), 1e-3), nn.CrossEntropyLoss()
    x, y = (
        torch.tensor(part).pin_memory() for part in draw(np.random.default_rng(0), rows * steps)
    )

    def turn() -> None:
        for start in range(0, rows * steps, rows):
            part = slice(start, start + rows)
            inputs, targets = (one[part].to("cuda", non_blocking=True) for one in (x, y))
            optimizer.zero_grad()
            with torch.autocast("cuda", torch.bfloat16):
                loss = losses(scores(inputs), targets.long().flatten())
            loss.backward()
            optimizer.step()
        loss.item()

    turn()
    return Ready(steps, None), turn  # its weights are others, so its losses are not compared
