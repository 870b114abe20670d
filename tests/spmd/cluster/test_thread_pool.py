"""The policy of XLA's pool, in processes of their own, since it stays."""

import os
import threading
from pathlib import Path

import pytest

from spmd.cluster import schedule_pool_as_batch, thread_pool
from tests.policies import needs_batch

_TRAIN = """
import os, pathlib
os.environ["JAXTRIBUTE_BATCH_THREADS"] = {wish!r}
import numpy as np, spmd
spmd.simulate_devices({devices})
weight = spmd.Variable(np.ones((8, 4), np.float32), name="weight")
def train(x):
    weight.value -= 0.01 * spmd.all_reduce(x.T @ (x @ weight.value))
for batch in spmd.distribute(np.ones((8, 8), np.float32), batch_size=8):
    spmd.Step(train)(batch)
policies = {{True: set(), False: set()}}
for thread in pathlib.Path("/proc/self/task").iterdir():
    try:
        is_pool = (thread / "comm").read_text() == "tf_XLAEigen\\n"
        policies[is_pool].add(os.sched_getscheduler(int(thread.name)))
    except OSError:
        pass  # it has ended
print(policies[True] == {{os.SCHED_BATCH}}, policies[False] == {{os.SCHED_OTHER}}, float(weight.value[0, 0]))
"""


@needs_batch
@pytest.mark.parametrize(
    ("devices", "wish", "batch"), [(2, "1", "True"), (1, "1", "False"), (2, "", "False")]
)
def test_the_pool_of_several_devices_alone_is_batch_work_if_asked(
    words_of_new_python, devices: int, wish: str, batch: str
) -> None:
    is_batch, others, weight = words_of_new_python(_TRAIN.format(devices=devices, wish=wish))
    assert (is_batch, others) == (batch, "True")
    assert float(weight) == pytest.approx(1 - 0.01 * 64)


@needs_batch
def test_threads_are_told_by_their_whole_names(monkeypatch, tmp_path: Path) -> None:
    inside, end = threading.Event(), threading.Event()

    def wait() -> None:
        inside.set()
        end.wait()

    others = [threading.Thread(target=wait) for _ in range(3)]
    for thread in others:
        thread.start()
    numbers = [str(thread.native_id) for thread in others]
    for number, name in zip(
        numbers, [b"tf_XLAEigen\n", b"tf_XLACompile\n", b"tf_\xc3\n"], strict=True
    ):
        (tmp_path / number).mkdir()
        (tmp_path / number / "comm").write_bytes(name)
    (tmp_path / "1").mkdir()  # of a thread that has ended
    monkeypatch.setenv("JAXTRIBUTE_BATCH_THREADS", "1")
    monkeypatch.setattr(thread_pool, "_THREADS", str(tmp_path))
    schedule_pool_as_batch()
    found = [os.sched_getscheduler(int(number)) for number in numbers]
    end.set()
    for thread in others:
        thread.join()
    assert found == [os.SCHED_BATCH, os.SCHED_OTHER, os.SCHED_OTHER]


def test_without_a_list_of_threads_nothing_happens(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAXTRIBUTE_BATCH_THREADS", "1")
    monkeypatch.setattr(thread_pool, "_THREADS", str(tmp_path / "none"))
    schedule_pool_as_batch()
