"""Operations that give variables and tables their values in a session: they have these when they are made."""

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
