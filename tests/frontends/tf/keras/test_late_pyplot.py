"""Keras is imported without Matplotlib, which it still draws with."""

import subprocess
import sys

import pytest

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.slow


def printed(script):
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_keras_draws_with_the_matplotlib_that_others_get(tmp_path):
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
    assert printed(script) == ["[]", "3"]


def test_others_may_import_it_meanwhile():
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
    assert printed(script) == [
        "1",
        "matplotlib.figure",
        "True",
        "module",
        "True",
        "matplotlib.patches",
    ]


def test_an_import_that_fails_says_so_when_keras_draws():
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
    assert printed(script) == ["ModuleNotFoundError"]
