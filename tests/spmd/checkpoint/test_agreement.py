"""What goes wrong in one process is raised in all."""

import json

import pytest

from spmd.checkpoint import CheckpointError, DamagedCheckpointError
from spmd.checkpoint.agreement import fail_together


@pytest.mark.parametrize(
    ("is_damage", "kind"), [(True, DamagedCheckpointError), (False, CheckpointError)]
)
def test_another_process_has_failed(store, is_damage, kind):
    store.answer = lambda key, text: (text, json.dumps(["no file", is_damage]))
    with pytest.raises(CheckpointError, match="Process 1 says: no file") as caught:
        fail_together("key", None, 1.0, is_damage=True)
    assert type(caught.value) is kind


def test_this_process_raises_its_own_error(store):
    store.answer = lambda key, text: (text, json.dumps(["no file", True]))
    with pytest.raises(KeyError, match="mine"):
        fail_together("key", KeyError("mine"), 1.0, is_damage=False)


def test_none_has_failed(store):
    store.answer = lambda key, text: (text, text)
    fail_together("key", None, 1.0, is_damage=True)
