"""`pandas_input_fn`: batches of data frames, for which others stand in, since pandas is not needed otherwise."""

import numpy as np
import pytest

from frontends import tf


class _Series:
    """What is asked of a series of pandas."""

    def __init__(self, values, index=None):
        self._values = np.array(values, None if not isinstance(values[0], str) else object)
        self.index = np.arange(len(values)) if index is None else index

    def to_numpy(self, copy):
        return self._values.copy() if copy else self._values


class _Frame:
    """What is asked of a data frame of pandas."""

    def __init__(self, columns, index=None):
        self._columns = {key: _Series(values, index) for key, values in columns.items()}
        self.columns = list(columns)
        self.index = next(iter(self._columns.values())).index

    def __contains__(self, key):
        return key in self._columns

    def __getitem__(self, key):
        return self._columns[key]

    def __len__(self):
        return len(self.index)


COLUMNS = {"age": [1.0, 2.0, 3.0], "name": ["a", "b", "c"]}


def test_features_are_columns():
    input_fn = tf.estimator.inputs.pandas_input_fn(
        _Frame(COLUMNS), _Series([0, 1, 0]), batch_size=2, shuffle=False
    )
    (features, labels), (last, _) = input_fn().as_numpy_iterator()
    assert features["age"].tolist() == [1, 2]
    assert features["name"].tolist() == [b"a", b"b"]
    assert last["name"].tolist() == [b"c"]
    assert labels.tolist() == [0, 1]


def test_labels_may_be_a_frame_and_may_be_left_out():
    of_two = tf.estimator.inputs.pandas_input_fn(
        _Frame(COLUMNS), _Frame({"y": [1, 2, 3], "z": [4, 5, 6]}), shuffle=False
    )
    ((_, labels),) = of_two().as_numpy_iterator()
    assert {key: one.tolist() for key, one in labels.items()} == {"y": [1, 2, 3], "z": [4, 5, 6]}
    of_none = tf.estimator.inputs.pandas_input_fn(_Frame(COLUMNS), shuffle=True)
    (features,) = of_none().as_numpy_iterator()
    assert sorted(features["age"].tolist()) == [1, 2, 3]


def test_what_does_not_fit_is_refused():
    make = tf.estimator.inputs.pandas_input_fn
    with pytest.raises(ValueError, match="shuffle must be provided"):
        make(_Frame(COLUMNS))
    with pytest.raises(ValueError, match="Cannot use name age"):
        make(_Frame(COLUMNS), _Series([0, 1, 0]), shuffle=False, target_column="age")
    with pytest.raises(ValueError, match="mismatched"):
        make(_Frame(COLUMNS), _Series([0, 1, 0], index=[3, 4, 5]), shuffle=False)
    with pytest.raises(TypeError, match="string"):
        make(_Frame(COLUMNS), shuffle=False, target_column=1)
