"""Where texts and integers are in a vocabulary, against Python's list."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from frontends.tf.feature_column.texts import Texts
from frontends.tf.feature_column.vocabulary_table import IntegerTable, TextTable

SIZES = [1, 2, 3, 4, 5, 64, 128, 129, 130, 1000]


@pytest.mark.parametrize("size", SIZES)
def test_texts(size):
    words = [f"word {i * 7919 % 1009}" for i in range(1000)]
    found = jax.jit(TextTable(words[:size]).find)(Texts.of(np.array(words)))
    assert found.tolist() == [*range(size), *[-1] * (1000 - size)]


@pytest.mark.parametrize("size", SIZES)
def test_integers(size):
    numbers = [i * 7919 % 1009 - 500 for i in range(1000)]
    found = jax.jit(IntegerTable(numbers[:size]).find)(jnp.array(numbers))
    assert found.tolist() == [*range(size), *[-1] * (1000 - size)]


def test_a_word_more_makes_no_program_larger():
    def operations(size):
        table = TextTable([f"word {i}" for i in range(size)])
        return str(jax.make_jaxpr(table.find)(Texts.of(["word 3"] * 2))).count(" = ")

    assert operations(3) == operations(100)


def test_integers_of_64_bits_are_never_found():
    assert IntegerTable([2**40, 3]).find(jnp.array([3, 0])).tolist() == [1, -1]
    assert IntegerTable([2**40]).find(jnp.array([3, 0])).tolist() == [-1, -1]
