"""Artifacts in object stores: whatever stops a save, the old one or the new one is there."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from spmd.checkpoint import Checkpoint, CheckpointError, remove_leftovers, verify, wait_for_saves
from spmd.errors import ExportError
from spmd.export import ArraySpec, Endpoint, load, remove, save
from spmd.files import StoreError, StorePath, path_of


def write(path: str, factor: float) -> None:
    endpoint = Endpoint(lambda weights, x: (x * weights[0], {}), ArraySpec("x", (2,), "float32"))
    save(path, {"scale": endpoint}, [("factor", np.float32(factor))], [("step", np.int32(factor))])


def read(path: str | Path) -> tuple[float, int]:
    artifact = load(path)
    outputs, _ = artifact.endpoints["scale"](artifact.weights, [np.ones(2, np.float32)])
    (step,) = artifact.read_state()
    assert outputs[0] == outputs[1]
    return float(outputs[0]), int(step)


def test_one_replaces_another_and_leaves_nothing_of_it(bucket):
    for factor in (1, 2):
        write(f"{bucket}/model", factor)
        assert read(f"{bucket}/model") == (factor, factor)
        names = [entry.name for entry in StorePath(f"{bucket}/model").iterdir()]
        assert len(names) == 2, names


def test_a_save_that_is_stopped_anywhere_leaves_the_old_one_or_the_new_one(bucket, monkeypatch):
    methods = {
        name: getattr(StorePath, name) for name in ("upload", "write_text", "unlink", "rmtree")
    }
    stopped_at, found, factor = 0, [], 1
    write(f"{bucket}/model", factor)

    def stopping(name, left):
        def call(path, *args):
            if not left:
                raise StoreError("stopped")
            left.pop()
            return methods[name](path, *args)

        return call

    while True:
        left = [None] * stopped_at
        with monkeypatch.context() as patched:
            for name in methods:
                patched.setattr(StorePath, name, stopping(name, left))
            try:
                write(f"{bucket}/model", factor + 1)
            except StoreError:
                is_whole = False
            else:
                is_whole = True
        now = read(f"{bucket}/model")
        assert now in ((factor, factor), (factor + 1, factor + 1))
        found.append(now[0] - factor)
        factor, stopped_at = int(now[0]), stopped_at + 1
        if is_whole:
            break
    assert set(found) == {0, 1}
    assert found[-1] == 1
    write(f"{bucket}/model", factor)
    assert len(list(StorePath(f"{bucket}/model").iterdir())) == 2  # what was left is gone


def test_the_first_save_is_repeated_where_it_was_stopped(bucket, monkeypatch):
    def stop(path, text):
        raise StoreError("stopped")

    with monkeypatch.context() as patched:
        patched.setattr(StorePath, "write_text", stop)
        with pytest.raises(StoreError):
            write(f"{bucket}/model", 1)
    with pytest.raises(ExportError, match="is not a saved model"):
        load(f"{bucket}/model")
    write(f"{bucket}/model", 2)
    assert read(f"{bucket}/model") == (2, 2)


def test_a_copy_on_a_disk_is_read_and_replaced(bucket, tmp_path):
    write(f"{bucket}/model", 3)
    source = StorePath(f"{bucket}/model")
    for name in source.files():
        tmp_path.joinpath("copy", name).parent.mkdir(parents=True, exist_ok=True)
        source.joinpath(name).download(str(tmp_path / "copy" / name))
    assert read(tmp_path / "copy") == (3, 3)
    write(str(tmp_path / "copy"), 4)
    assert read(tmp_path / "copy") == (4, 4)


def test_what_the_manifest_names_is_confined(tmp_path):
    write(str(tmp_path / "model"), 1)
    shutil.copytree(tmp_path / "model", tmp_path / "elsewhere")
    manifest = tmp_path / "model" / "manifest.json"
    described = json.loads(manifest.read_text())
    for folder in ("../elsewhere", str(tmp_path / "elsewhere"), 3, ""):
        manifest.write_text(json.dumps({**described, "folder": folder}))
        with pytest.raises(ExportError, match="its folder is"):
            load(tmp_path / "model")


def test_a_url_of_a_file_is_its_path(tmp_path):
    for factor in (1, 2):
        write(f"file://{tmp_path}/model", factor)
        assert read(tmp_path / "model") == read(f"file://{tmp_path}/model") == (factor, factor)
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]
    assert (tmp_path / "model" / "weights").is_dir()


@pytest.mark.parametrize("kind", ["store", "disk"])
def test_assets_are_there_before_the_manifest(bucket, tmp_path, kind, monkeypatch):
    folder = bucket if kind == "store" else str(tmp_path)
    StorePath(f"{bucket}/words.txt").write_text("a b")
    path = path_of(f"{folder}/model")
    assets = {"assets.extra/words.txt": f"{bucket}/words.txt"}
    for _ in range(2):
        save(path, {}, [("factor", np.float32(1))], assets=assets)
        assert (path / "assets.extra" / "words.txt").read_text() == "a b"
        assert load(path).weights == [1]
    with pytest.raises(FileNotFoundError):
        save(f"{folder}/other", {}, [], assets={"a": f"{bucket}/none"})
    assert not path_of(f"{folder}/other").exists()


def test_a_model_and_a_checkpoint_do_not_replace_each_other(bucket, tmp_path):
    for folder in (bucket, str(tmp_path)):
        write(f"{folder}/model", 1)
        with pytest.raises(CheckpointError, match=r"model is neither"):
            Checkpoint(c=1).save(f"{folder}/model")
        Checkpoint(c=1).save(f"{folder}/ckpt")
        wait_for_saves()
        with pytest.raises(ExportError, match="is not a saved model that could be replaced"):
            write(f"{folder}/ckpt", 2)
        verify(f"{folder}/ckpt")
        assert read(f"{folder}/model") == (1, 1)


def test_a_manager_leaves_a_save_that_is_under_way_alone(bucket, monkeypatch):
    upload = StorePath.upload

    def upload_with_a_manager(path, file):
        upload(path, file)
        remove_leftovers(bucket)

    with monkeypatch.context() as patched:
        patched.setattr(StorePath, "upload", upload_with_a_manager)
        write(f"{bucket}/model", 1)
    assert read(f"{bucket}/model") == (1, 1)


def test_a_reader_of_a_model_that_is_being_replaced_gets_the_new_one(bucket, monkeypatch):
    write(f"{bucket}/model", 1)
    old = load(f"{bucket}/model")
    find = StorePath.files

    def replace(path):
        if len(replaced) < 2:
            replaced.append(path)
            write(f"{bucket}/model", 1 + len(replaced))
        return find(path)

    replaced = []
    with monkeypatch.context() as patched:
        patched.setattr(StorePath, "files", replace)
        assert read(f"{bucket}/model") == (3, 3)
    assert len(replaced) == 2
    with pytest.raises(ExportError, match="was replaced or removed since it was loaded"):
        old.read_state()


def test_one_that_is_removed_is_gone(bucket, tmp_path):
    for folder in (bucket, str(tmp_path)):
        write(f"{folder}/model", 1)
        remove(f"{folder}/model")
        assert not path_of(f"{folder}/model").exists()
