"""Programs on disk: what comes back, and what is said of a directory that holds none."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp
import pytest

from spmd import export
from spmd.errors import ExportError
from spmd.export import ArraySpec, Endpoint

KERNEL = np.arange(6, dtype=np.float32).reshape(3, 2)
X = ArraySpec("x", (None, 3), "float32")


def predict(weights, x):
    return x @ weights[0], {}


def save(path, function=predict, inputs=X, weights=(("kernel", KERNEL),), **kwargs):
    export.save(path, {"predict": Endpoint(function, inputs)}, weights, **kwargs)


@pytest.mark.parametrize("rows", [1, 5])
def test_a_program_takes_any_number_of_rows(tmp_path, rows):
    save(tmp_path / "model")
    model = export.load(tmp_path / "model")
    x = np.ones((rows, 3), np.float32)
    outputs, changed = model.endpoints["predict"](model.weights, [x])
    np.testing.assert_array_equal(outputs, x @ KERNEL)
    assert changed == {}


def test_the_manifest_describes_inputs_outputs_and_weights(tmp_path):
    def both(weights, inputs):
        return {"sum": inputs["a"] + inputs["b"].sum(1), "kernel": weights[0]}, {}

    inputs = {"a": ArraySpec("a", (None,), "int32"), "b": ArraySpec("b", (None, None), "int32")}
    save(tmp_path / "model", both, inputs, notes={"by": ["a test"]})
    model = export.load(tmp_path / "model")
    endpoint = model.endpoints["predict"]
    assert list(map(str, endpoint.inputs)) == ["a: int32[None]", "b: int32[None, None]"]
    assert list(map(str, endpoint.outputs)) == ["kernel: float32[3, 2]", "sum: int32[None]"]
    assert list(map(str, model.weight_specs)) == ["kernel: float32[3, 2]"]
    assert model.notes == {"by": ["a test"]}
    assert json.loads((tmp_path / "model" / "manifest.json").read_text())["jax"] == jax.__version__


def test_an_endpoint_tells_which_weights_change(tmp_path):
    def count(weights, x):
        return x, {1: weights[1] + 1}

    save(tmp_path / "model", count, weights=[("kernel", KERNEL), ("calls", np.int32(4))])
    model = export.load(tmp_path / "model")
    _, changed = model.endpoints["predict"](model.weights, [np.ones((2, 3), np.float32)])
    assert {place: int(value) for place, value in changed.items()} == {1: 5}


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int8", "bool"])
def test_weights_keep_their_dtype(tmp_path, dtype):
    weight = jnp.asarray([1, 0], dtype)
    save(tmp_path / "model", lambda weights, x: (x, {}), weights=[("weight", weight)])
    (loaded,) = export.load(tmp_path / "model").weights
    assert loaded.dtype == weight.dtype
    np.testing.assert_array_equal(loaded, weight)


def test_a_program_without_weights(tmp_path):
    save(tmp_path / "model", lambda weights, x: (x * 2, {}), weights=[])
    model = export.load(tmp_path / "model")
    outputs, _ = model.endpoints["predict"]([], [np.ones((2, 3), np.float32)])
    assert model.weights == []
    np.testing.assert_array_equal(outputs, np.full((2, 3), 2))


def test_state_is_kept_beside_the_weights(tmp_path):
    save(tmp_path / "model", state=[("momentum", np.float32(3))])
    model = export.load(tmp_path / "model")
    assert len(model.weights) == 1
    assert [float(value) for value in model.read_state()] == [3.0]


def test_weights_on_a_mesh_are_gathered(tmp_path, mesh_of):
    sharding = jax.NamedSharding(mesh_of(2), jax.P("replica"))
    weight = jax.device_put(np.arange(4, dtype=np.float32), sharding)
    save(tmp_path / "model", lambda weights, x: (x, {}), weights=[("weight", weight)])
    np.testing.assert_array_equal(export.load(tmp_path / "model").weights[0], np.arange(4))


def test_a_program_runs_on_the_devices_of_its_inputs(tmp_path, mesh_of):
    save(tmp_path / "model")
    model = export.load(tmp_path / "model")
    x = jax.device_put(np.ones((4, 3), np.float32), jax.NamedSharding(mesh_of(2), jax.P("replica")))
    outputs, _ = model.endpoints["predict"](model.weights, [x])
    np.testing.assert_array_equal(outputs, x @ KERNEL)
    assert len(outputs.sharding.device_set) == 2


def test_a_program_is_for_all_platforms(tmp_path):
    save(tmp_path / "model")
    program = bytearray((tmp_path / "model" / "predict.stablehlo").read_bytes())
    assert jax.export.deserialize(program).platforms == ("cpu", "cuda", "tpu")


def test_saving_replaces_an_older_artifact_and_leaves_nothing_beside(tmp_path):
    save(tmp_path / "model", state=[("momentum", np.float32(3))])
    save(tmp_path / "model", weights=[("kernel", KERNEL + 1)])
    model = export.load(tmp_path / "model")
    np.testing.assert_array_equal(model.weights[0], KERNEL + 1)
    assert model.read_state() == []
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


def test_a_write_that_fails_leaves_the_older_artifact(tmp_path, monkeypatch):
    save(tmp_path / "model")

    def broken(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr(ocp.PyTreeCheckpointer, "save", broken)
    with pytest.raises(OSError, match="no space"):
        save(tmp_path / "model", weights=[("kernel", KERNEL + 1)])
    np.testing.assert_array_equal(export.load(tmp_path / "model").weights[0], KERNEL)
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


def test_files_of_others_are_not_replaced(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ExportError, match="not a saved model that could be replaced"):
        save(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_a_function_that_needs_a_fixed_size_is_refused_with_the_remedy(tmp_path):
    def asks_for_rows(weights, x):
        return (x if x.shape[0] > 3 else 2 * x), {}

    with pytest.raises(
        ExportError, match=r"(?s)'predict' cannot be exported.*fix it in the inputs"
    ):
        save(tmp_path / "model", asks_for_rows, ArraySpec("x", (None, 3), "float32"))
    save(tmp_path / "model", asks_for_rows, ArraySpec("x", (4, 3), "float32"))
    assert [spec.shape for spec in export.load(tmp_path / "model").endpoints["predict"].inputs] == [
        (4, 3)
    ]


# ---- Directories that cannot be loaded.


def test_a_directory_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="no directory"):
        export.load(tmp_path / "model")


def test_a_directory_with_other_files(tmp_path):
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(
        ExportError, match=r"not a saved model: expected manifest.json .* notes.txt"
    ):
        export.load(tmp_path)


def test_a_saved_model_of_tensorflow(tmp_path):
    (tmp_path / "saved_model.pb").write_bytes(b"")
    with pytest.raises(ExportError, match=r"SavedModel of TensorFlow.*model.save\('model.keras'\)"):
        export.load(tmp_path)


@pytest.mark.parametrize("file", ["manifest.json", "predict.stablehlo", "weights/_METADATA"])
@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_a_damaged_artifact(tmp_path, file, damage):
    save(tmp_path / "model")
    broken = tmp_path / "model" / file
    if damage == "cut":
        broken.write_bytes(broken.read_bytes()[:-20])
    else:
        broken.unlink()
    with pytest.raises(ExportError, match=r"damaged|not a saved model"):
        export.load(tmp_path / "model")


def test_weights_that_are_not_those_of_the_manifest(tmp_path):
    save(tmp_path / "model")
    manifest = tmp_path / "model" / "manifest.json"
    content = json.loads(manifest.read_text())
    content["weights"][0]["dtype"] = "int32"
    manifest.write_text(json.dumps(content))
    with pytest.raises(ExportError, match=r"kernel: int32.* was expected, but float32"):
        export.load(tmp_path / "model")


def test_a_format_of_the_future(tmp_path):
    save(tmp_path / "model")
    manifest = tmp_path / "model" / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "version": 99}))
    with pytest.raises(ExportError, match=r"version 99 .* reads versions 1 and 2"):
        export.load(tmp_path / "model")


def test_a_fresh_process_runs_the_program_without_its_code(tmp_path, run_python):
    save(tmp_path / "model")
    code = f"""
import numpy as np
from spmd import export
model = export.load({str(tmp_path / "model")!r})
print(model.endpoints["predict"](model.weights, [np.ones((2, 3), np.float32)])[0].tolist())
"""
    assert run_python("-c", code).stdout.strip() == str([[6.0, 9.0], [6.0, 9.0]])
