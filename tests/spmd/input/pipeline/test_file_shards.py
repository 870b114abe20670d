"""Which files a process reads."""

import threading

from spmd.input.pipeline.file_shards import FileShard, is_reading_part, own_files

NAMES = list("abcde")


def test_all_files_are_read_outside_of_a_part():
    assert not is_reading_part()
    assert list(own_files(NAMES)) == NAMES


def test_parts_are_disjoint_and_complete():
    parts = []
    for index in range(2):
        shard = FileShard(2, index)
        assert not shard.used
        with shard.in_force():
            assert is_reading_part()
            parts.append(list(own_files(NAMES)))
        assert shard.used
    assert parts == [["a", "c", "e"], ["b", "d"]]


def test_a_part_is_in_force_on_its_thread_alone():
    seen = []
    with FileShard(2, 0).in_force():
        thread = threading.Thread(target=lambda: seen.extend(own_files(NAMES)))
        thread.start()
        thread.join()
    assert seen == NAMES
