"""Switches between TensorFlow's versions, which have nothing to switch here: code runs eagerly outside of programs."""


def enable_eager_execution(*args: object, **kwargs: object) -> None:
    """Has no effect: code runs eagerly outside of programs.

    Source: `tf.compat.v1.enable_eager_execution`.
    """


def disable_eager_execution() -> None:
    """Has no effect: code runs eagerly outside of programs. Estimators and `tf.function` compile what they run.

    Source: `tf.compat.v1.disable_eager_execution`.
    """


def enable_v2_behavior() -> None:
    """Has no effect: there is no other.

    Source: `tf.compat.v1.enable_v2_behavior`.
    """


def disable_v2_behavior() -> None:
    """Has no effect: estimators need nothing switched off.

    Source: `tf.compat.v1.disable_v2_behavior`.
    """


def enable_v2_tensorshape() -> None:
    """Has no effect: sizes are integers.

    Source: `tf.compat.v1.enable_v2_tensorshape`.
    """


def disable_v2_tensorshape() -> None:
    """Has no effect: sizes are integers.

    Source: `tf.compat.v1.disable_v2_tensorshape`.
    """


def enable_tensor_equality() -> None:
    """Has no effect: `==` compares the elements of tensors and variables, and they cannot be keys.

    Source: `tf.compat.v1.enable_tensor_equality`.
    """


def enable_control_flow_v2() -> None:
    """Has no effect: loops and branches are XLA's.

    Source: `tf.compat.v1.enable_control_flow_v2`.
    """


def disable_control_flow_v2() -> None:
    """Has no effect: loops and branches are XLA's.

    Source: `tf.compat.v1.disable_control_flow_v2`.
    """


def enable_resource_variables() -> None:
    """Has no effect: variables are read in the order of the program.

    Source: `tf.compat.v1.enable_resource_variables`.
    """


def disable_resource_variables() -> None:
    """Has no effect: variables are read in the order of the program.

    Source: `tf.compat.v1.disable_resource_variables`.
    """


def reset_default_graph() -> None:
    """Has no effect: each call of an estimator has a graph of its own.

    Source: `tf.compat.v1.reset_default_graph`.
    """


def resource_variables_enabled() -> bool:
    """Tells whether variables are read in the order of the program: always.

    Source: `tf.compat.v1.resource_variables_enabled`.
    """
    return True


def executing_eagerly_outside_functions() -> bool:
    """Tells whether code outside of programs runs at once: always.

    Source: `tf.compat.v1.executing_eagerly_outside_functions`.
    """
    return True


def control_flow_v2_enabled() -> bool:
    """Tells whether loops and branches are XLA's: always.

    Source: `tf.compat.v1.control_flow_v2_enabled`.
    """
    return True
