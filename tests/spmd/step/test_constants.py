"""Texts in the results of steps."""

import jax
import numpy as np

import spmd
from spmd.step.constants import with_constants


def test_texts_come_out_as_they_are(mesh_of) -> None:
    rows = np.arange(3.0, dtype=np.float32)
    step = spmd.Step(lambda x: {"x": x * 2, "name": "twice", "raw": (b"b", None)}, mesh_of(2))
    for batch in spmd.distribute(rows, mesh_of(2), batch_size=2):
        result = step(batch)
        assert (result["name"], result["raw"]) == ("twice", (b"b", None))
        assert spmd.gather(result["x"]).tolist() == (spmd.gather(batch) * 2).tolist()
    assert spmd.Step(lambda: "alone", mesh_of(2))() == "alone"


def test_a_text_is_part_of_the_structure() -> None:
    structures = [jax.tree.structure(with_constants((1, name))) for name in ("a", "a", "b")]
    assert structures[0] == structures[1] != structures[2]
