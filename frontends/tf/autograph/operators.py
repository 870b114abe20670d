"""The operators that converted code calls, by malt's names."""

from frontends.tf.autograph.builtins import list_append
from frontends.tf.autograph.calls import converted_call
from frontends.tf.autograph.conditionals import if_exp, if_stmt
from frontends.tf.autograph.logic import and_, assert_stmt, not_, or_
from frontends.tf.autograph.loops import for_stmt, while_stmt
from frontends.tf.autograph.status import mark

OPERATORS = {
    "and_": and_,
    "assert_stmt": assert_stmt,
    "autograph_artifact": mark,
    "converted_call": converted_call,
    "for_stmt": for_stmt,
    "if_exp": if_exp,
    "if_stmt": if_stmt,
    "list_append": list_append,
    "not_": not_,
    "or_": or_,
    "while_stmt": while_stmt,
}
