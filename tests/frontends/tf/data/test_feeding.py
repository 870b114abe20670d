"""What `next(iterator)` gives in a loop that is being traced."""

import pytest

from frontends.tf.data import feeding
from frontends.tf.data.feeding import FedIterator, Feeding, Read, UnknownRead, fed, fed_loop
from frontends.tf.data.tracing import DatasetReadDuringTrace


class Stacked:
    """Stands for the engine's batches of all turns."""

    def __init__(self, batches):
        self.rows = list(batches)

    def batch(self, row):
        return f"batch {row}"


@pytest.fixture(autouse=True)
def _stacked(monkeypatch):
    monkeypatch.setattr(feeding, "StackedBatches", Stacked)


def test_reads_give_the_batches_of_their_turn():
    reads = [Read(0, 1, 2), Read(0, 2, 2), Read(1, 1, 3)]
    one, other = FedIterator(1, None), FedIterator(2, None)
    with fed(Feeding(reads, ["ab", "cd", "efg"])):
        first = fed_loop(2, ends_early=False)
        assert first.rows == [["a", "b"], ["c", "d"]]
        with first.turn(["b", "d"]):
            assert fed_loop(5, ends_early=False) is None  # inside of the loop
            assert (next(one), next(other)) == ("batch b", "batch d")
        with fed_loop(3, ends_early=False).turn(["g"]):
            assert next(one) == "batch g"


def test_a_read_that_is_not_known_says_which_it_is():
    with fed(Feeding([], [])), fed_loop(4, ends_early=False).turn([]):
        with pytest.raises(UnknownRead) as unknown:
            next(FedIterator(7, None))
        assert unknown.value.read == Read(site=0, iterator=7, length=4)


def test_reads_in_another_order_are_no_program():
    feeding_ = Feeding([Read(0, 1, 2)], ["ab"])
    refused = pytest.raises(DatasetReadDuringTrace)
    with fed(feeding_), fed_loop(2, ends_early=False).turn("a"), refused:
        next(FedIterator(2, None))


def test_loops_that_are_not_fed():
    assert fed_loop(2, ends_early=False) is None
    with fed(Feeding([], [])):
        assert fed_loop(0, ends_early=False) is None
        assert fed_loop(2, ends_early=True) is None
        assert fed_loop(2, ends_early=False).site == 0
    with pytest.raises(DatasetReadDuringTrace):
        next(FedIterator(0, None))
