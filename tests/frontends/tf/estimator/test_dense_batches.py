"""Arrays in place of sparse tensors."""

import numpy as np

from frontends import tf
from frontends.tf.estimator.dense_batches import with_arrays


def test_rows_end_with_what_stands_for_none():
    rows = {
        "ids": tf.SparseTensor([[0, 0], [0, 1], [0, 2], [1, 0]], [7, 8, 9, 3], [2, 3]),
        "words": tf.SparseTensor([[1, 0]], ["a"], [2, 1]),
        "weights": tf.SparseTensor([[0, 1]], [0.5], [2, 2]),
        "dense": np.float32([[1.0], [2.0]]),
    }
    dataset = with_arrays(tf.data.Dataset.from_tensors((rows, [0, 1])))
    found, labels = next(iter(dataset))
    assert np.asarray(found["ids"]).tolist() == [[7, 8, 9, -1], [3, -1, -1, -1]]
    assert np.asarray(found["words"]).tolist() == [[b""], [b"a"]]
    assert np.asarray(found["weights"]).tolist() == [[0.0, 0.5], [0.0, 0.0]]
    assert found["dense"].shape == (2, 1)
    assert labels.tolist() == [0, 1]


def test_other_datasets_stay_as_they_are():
    dataset = tf.data.Dataset.range(3)
    assert with_arrays(dataset) is dataset


def test_columns_take_features_of_varying_length(tmp_path):
    examples = [
        tf.train.Example(
            features=tf.train.Features(
                feature={
                    "words": tf.train.Feature(bytes_list=tf.train.BytesList(value=words)),
                    "label": tf.train.Feature(float_list=tf.train.FloatList(value=[label])),
                }
            )
        ).SerializeToString()
        for words, label in (([b"a", b"b"], 1.0), ([], 0.0), ([b"b"], 1.0))
    ]
    column = tf.feature_column.categorical_column_with_vocabulary_list("words", ["a", "b"])
    spec = tf.feature_column.make_parse_example_spec([column])
    spec["label"] = tf.io.FixedLenFeature([1], tf.float32)

    def input_fn():
        rows = tf.data.Dataset.from_tensor_slices(examples).batch(3)
        return rows.map(
            lambda x: (lambda one: (one, one.pop("label")))(tf.io.parse_example(x, spec))
        )

    estimator = tf.estimator.LinearRegressor([column], tmp_path, optimizer="SGD")
    estimator.train(input_fn, steps=1)
    weights = estimator.get_variable_value("linear/linear_model/words/weights")
    # Of the mean of squares, from zeros: the rate 0.2, twice the label, a third for each row that has the word.
    np.testing.assert_allclose(weights, np.float32([[1], [2]]) * 0.2 * 2 / 3, rtol=1e-6)
