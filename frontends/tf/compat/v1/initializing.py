"""Operations that give variables and tables their values in a session: they have these when they are made."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp

from frontends.tf._typing import VariableLike
from frontends.tf.graph import Operation
from frontends.tf.ops.control_flow import no_op


def global_variables_initializer() -> Operation | None:
    """Makes an operation without effect, for `tf.train.Scaffold` and `tf.group`: variables have values when they are made.

    Source: `tf.compat.v1.global_variables_initializer`.
    """
    return no_op("init")


def local_variables_initializer() -> Operation | None:
    """Makes an operation without effect: each evaluation has new variables of metrics; see `global_variables_initializer`.

    Source: `tf.compat.v1.local_variables_initializer`.
    """
    return no_op("init_local")


def tables_initializer(name: str = "init_all_tables") -> Operation | None:
    """Makes an operation without effect: tables have their entries; see `global_variables_initializer`.

    Source: `tf.compat.v1.tables_initializer`.
    """
    return no_op(name)


def initialize_all_variables() -> Operation | None:
    """An older name of `global_variables_initializer`.

    Source: `tf.compat.v1.initialize_all_variables`.
    """
    return global_variables_initializer()


def initialize_local_variables() -> Operation | None:
    """An older name of `local_variables_initializer`.

    Source: `tf.compat.v1.initialize_local_variables`.
    """
    return local_variables_initializer()


def initialize_all_tables(name: str = "init_all_tables") -> Operation | None:
    """An older name of `tables_initializer`.

    Source: `tf.compat.v1.initialize_all_tables`.
    """
    return tables_initializer(name)


def initialize_variables(var_list: Sequence[VariableLike], name: str = "init") -> Operation | None:
    """An older name of `variables_initializer`.

    Args:
        var_list: accepted; not used.

    Source: `tf.compat.v1.initialize_variables`.
    """
    return variables_initializer(var_list, name)


def variables_initializer(var_list: Sequence[VariableLike], name: str = "init") -> Operation | None:
    """Makes an operation without effect: variables have their values; see `global_variables_initializer`.

    Args:
        var_list: accepted; not used.

    Source: `tf.compat.v1.variables_initializer`.
    """
    return no_op(name)


def is_variable_initialized(variable: VariableLike) -> jax.Array:
    """Tells whether a variable has a value: always.

    Args:
        variable: accepted; not used.

    Source: `tf.compat.v1.is_variable_initialized`.
    """
    return jnp.asarray(True)
