"""Keras is imported without Matplotlib, which it still draws with."""

import sys

import pytest

from frontends.tf.keras._late_pyplot import pyplot_when_used


def test_a_name_is_looked_up_in_the_module_that_others_import_afterwards(monkeypatch, tmp_path):
    package = tmp_path / "plots_of_a_test"
    package.mkdir()
    for name in ("__init__", "patches", "pyplot"):
        (package / f"{name}.py").write_text(f"where = {name!r}")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("frontends.tf.keras._late_pyplot._PACKAGE", package.name)
    with pyplot_when_used():
        import plots_of_a_test.pyplot as late
        from plots_of_a_test import patches
    assert package.name not in sys.modules
    assert f"{package.name}.pyplot" not in sys.modules
    assert (late.where, patches.where) == ("pyplot", "patches")
    import plots_of_a_test.pyplot as real

    assert type(real) is not type(late)
    real.where = "changed"
    assert late.where == "changed"


@pytest.mark.slow
def test_keras_draws_with_the_matplotlib_that_others_get(words_of_new_python, tmp_path):
    script = f"""
import sys
from frontends import tf
tf.keras
print([name for name in sys.modules if name.split(".")[0] == "matplotlib"])
import matplotlib
matplotlib.use("agg")
import numpy as np
pictures = np.zeros((4, 8, 8, 3), "uint8")
tf.keras.visualization.plot_image_gallery(pictures, rows=2, cols=2, value_range=(0, 255), path={str(tmp_path / "gallery.png")!r})
import matplotlib.pyplot as plt
print(plt.imread({str(tmp_path / "gallery.png")!r}).ndim)
"""
    assert words_of_new_python(script) == ["[]", "3"]


@pytest.mark.slow
def test_others_may_import_it_meanwhile(words_of_new_python):
    script = """
import sys
from frontends.tf.keras._late_pyplot import pyplot_when_used
with pyplot_when_used():
    import matplotlib.pyplot as keras_has
    from matplotlib import patches
    print(len(sys.modules["matplotlib"].__path__))
    from matplotlib.figure import Figure
    import matplotlib.pyplot as real
    print(Figure.__module__, real is sys.modules["matplotlib.pyplot"], type(real).__name__)
print(keras_has.figure is real.figure, patches.Circle.__module__)
"""
    assert words_of_new_python(script) == [
        "1",
        "matplotlib.figure",
        "True",
        "module",
        "True",
        "matplotlib.patches",
    ]


@pytest.mark.slow
def test_an_import_that_fails_says_so_when_keras_draws(words_of_new_python):
    script = """
import sys
from frontends.tf.keras._late_pyplot import pyplot_when_used
with pyplot_when_used():
    import matplotlib.pyplot as plt
sys.modules["matplotlib.pyplot"] = None
try:
    plt.figure
except ImportError as error:
    print(type(error).__name__)
"""
    assert words_of_new_python(script) == ["ModuleNotFoundError"]
