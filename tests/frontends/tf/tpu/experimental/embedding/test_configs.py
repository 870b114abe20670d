"""Configurations of tables and features; the recorded results have their errors."""

from frontends import tf

embedding = tf.tpu.experimental.embedding


def test_the_default_initializer_is_not_shown():
    table = embedding.TableConfig(400, 4, name="words")
    assert "initializer=None" in repr(table)
    rows = table.initializer((400, 4), dtype="float32")
    assert abs(float(tf.math.reduce_std(rows)) - 0.5 * 0.88) < 0.05  # cut off at two deviations
    own = embedding.RowIdInitializer()
    assert f"initializer={own!r}" in repr(embedding.TableConfig(4, 2, initializer=own))
