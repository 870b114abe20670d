"""Small texts that processes share."""

import pytest

pytestmark = pytest.mark.multiprocess


def test_processes_agree(gang):
    gang.start(
        """
        from spmd.cluster import store
        from spmd.errors import ClusterWaitError, StoreKeyError

        for round in range(3):
            print(store.all_gather_small("steps", f"{round}{me}", 60.0))
        if me == 0:
            store.current().put("number", "7")
        store.all_gather_small("stored", "", 60.0)
        print("got", store.current().peek("number"), store.current().peek("nothing"))
        try:
            store.current().put("number", "8")
        except StoreKeyError as error:
            print(error)
        if me == 0:
            try:
                store.all_gather_small("alone", "", 0.5)
            except ClusterWaitError as error:
                print(error.missing, error)
        """,
        3,
    )
    assert gang.statuses(0, 1, 2) == [0, 0, 0]
    for task in range(3):
        lines = gang.text(task)
        for index in range(3):
            assert str(tuple(f"{index}{other}" for other in range(3))) in lines
        assert "got 7 None" in lines
        assert "'number' is stored already" in lines
    assert "('worker 0', 'worker 1') chief 0 waited 0.5 s for worker 0, worker 1" in gang.text(0)
