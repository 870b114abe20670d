"""What a model function is called for."""


class ModeKeys:
    """Names of the modes.

    Source: `tf.estimator.ModeKeys`.
    """

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"
