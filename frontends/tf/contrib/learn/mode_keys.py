"""What a model function is called for, by the first names."""


class ModeKeys:
    """Names of the modes; they are those of `tf.estimator.ModeKeys`.

    Source: `tf.contrib.learn.ModeKeys`.
    """

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"
