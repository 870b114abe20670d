"""Uses of names are found through aliases, and only where they can be told."""

import textwrap

from frontends.tf.check.uses import uses_in


def uses(text, start="import tensorflow as tf"):
    return uses_in(f"{start}\n{textwrap.dedent(text)}").uses


def paths(text, start="import tensorflow as tf"):
    return [use.found.path for use in uses(text, start)]


def missing(text, start="import tensorflow as tf"):
    return [use.found.path for use in uses(text, start) if use.found.is_missing and not use.guard]


def test_aliases():
    assert paths("tfk = tf.keras\nL = tfk.layers\nL.Dense(1)") == ["tf.keras.layers.Dense"]
    assert paths("D = tf.data.Dataset\nD.range(3)") == ["tf.data.Dataset", "tf.data.Dataset.range"]
    assert paths("a, b = tf.cast, tf.keras\nb.Model") == ["tf.cast", "tf.keras.Model"]
    assert paths("x.y(v1.ones([1]))", "import tensorflow.compat.v1 as v1") == ["tf.compat.v1.ones"]
    assert paths("K.clear_session()", "from tensorflow.keras import backend as K") == [
        "tf.keras.backend.clear_session"
    ]


def test_a_name_that_is_imported_counts_where_it_is_imported_and_used():
    assert (
        paths("Dense(1)", "from tensorflow.keras.layers import Dense")
        == ["tf.keras.layers.Dense"] * 2
    )


def test_places():
    (use,) = uses("x = 1 + tf.cast(\n  1, 2)")
    assert (use.line, use.column) == (2, 9)
    assert use.call is not None


def test_uses_stand_everywhere():
    text = """
    @tf.function(jit_compile=True)
    def f(x: tf.Tensor, y=tf.int32, *, z=tf.int64) -> tf.Tensor:
        with tf.GradientTape() as tape, tf.name_scope("a"):
            for i in tf.range(3):
                x += tf.add(x, [tf.abs(q) for q in y if tf.equal(q, 1)])
        return (lambda a, b=tf.ones: tf.zeros(a))(f"{tf.rank(x)}")
    class A(tf.Module):
        b = tf.Variable(1)
        def c(self):
            try:
                return {tf.float32: tf.tanh} if tf.shape(1) else (yield tf.sign)
            except tf.errors.OutOfRangeError:
                del self.d[tf.size]
    async def g():
        async with tf.device("a"):
            await tf.exp
        match tf.sin:
            case tf.cos:
                tf.floor
    """
    expected = (
        "function Tensor int32 int64 Tensor GradientTape name_scope range add abs equal ones zeros rank Module Variable "
        "float32 tanh shape sign errors.OutOfRangeError size device exp sin cos floor"
    )
    assert set(paths(text)) == {f"tf.{name}" for name in expected.split()}


def test_what_hides_an_import_is_not_tensorflow():
    assert paths("def f(tf): return tf.nothing") == []
    assert paths("f = lambda tf: tf.nothing") == []
    assert paths("[tf.nothing for tf in x]") == []
    assert paths("def f():\n  for tf in x: tf.nothing\n") == []
    assert paths("keras = 1\nkeras.nothing", "from tensorflow import keras") == []
    assert paths("import os as tf\ntf.nothing") == []


def test_functions_see_what_is_bound_later():
    assert paths("def f(): return later.cast\nlater = tf") == ["tf.cast"]
    assert paths("class A:\n  tf = 1\n  def f(self): return tf.cast") == ["tf.cast"]


def test_methods_of_objects():
    assert missing("s = tf.distribute.MirroredStrategy()\ns.run(f)\ns.experimental_run_v9(f)") == [
        "tf.distribute.MirroredStrategy.experimental_run_v9"
    ]
    assert missing("tf.data.Dataset.range(3).map(f).batch(2).no_such(3)") == [
        "tf.data.Dataset.no_such"
    ]
    assert missing("with tf.GradientTape() as t:\n  t.gradients(1)") == [
        "tf.GradientTape.gradients"
    ]
    assert missing("m = tf.keras.Sequential()\nm.fit_generator(x)") == [
        "tf.keras.Sequential.fit_generator"
    ]


def test_what_a_script_stores_in_objects_is_its_own():
    assert missing("m = tf.keras.Sequential()\nm.mine = 1\nm.mine.other") == []
    assert missing("x = y or tf.distribute.MirroredStrategy()\nx.anything") == []
    assert missing("m = tf.keras.Sequential()\nif x:\n  m = other\nm.anything") == []


def test_one_of_two_modules():
    text = """
    try:
        import tensorflow.compat.v1 as tf
    except ImportError:
        import tensorflow as tf
    tf.layers.dense
    """
    assert paths(text, "") == ["tf.compat.v1.layers.dense"]
    assert paths(
        "try:\n  from tensorflow import keras\nexcept ImportError:\n  import keras\nkeras.Model", ""
    ) == ["tf.keras.Model"]


def test_what_a_script_asks_for_first_is_guarded():
    text = """
    if tf.__version__.startswith("1."):
        def f():
            return tf.Session()
    a = tf.gone if hasattr(tf, "gone") else None
    try:
        tf.lost
    except (AttributeError, KeyError):
        pass
    try:
        tf.really_missing
    except ValueError:
        pass
    """
    assert missing(text) == ["tf.really_missing"]
    (script,) = [
        uses_in("try:\n  import tensorflow.python.x as x\nexcept ImportError:\n  x = None")
    ]
    assert [one.guard for one in script.imports] == ["the script catches the error"]


def test_getattr_with_a_name():
    assert paths('getattr(tf, "cast")') == ["tf.cast"]
    assert paths('getattr(tf, "gone", None)') == []


def test_a_variable_that_is_two_things_in_turn_is_not_known_in_functions():
    text = "o = tf.keras.optimizers.Adam()\ndef f(): o.update(1)\no = optax.adam(1)\n"
    assert missing(text) == []
    assert missing("o = tf.keras.optimizers.Adam()\no.update(1)\no = 1") == [
        "tf.keras.optimizers.Adam.update"
    ]


def test_a_parameter_may_be_of_a_subclass():
    assert missing("def f(m: tf.keras.Model, d: tf.distribute.Strategy): m.config, d.mine") == []
    assert paths("def f(s: tf.distribute.Strategy): s.run(g)")[-1] == "tf.distribute.Strategy.run"
