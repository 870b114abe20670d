"""`tf.contrib.learn`: experiments, which train and evaluate an estimator, and what their scripts name besides."""

from frontends.tf._names import attributes

__getattr__, __dir__ = attributes(
    "tf.contrib.learn",
    {},
    {"learn_runner": "frontends.tf.contrib.learn.learn_runner"},
    borrowed={
        "Experiment": "frontends.tf.contrib.learn.experiment",
        "ExportStrategy": "frontends.tf.contrib.learn.export_strategy",
        "ModeKeys": "frontends.tf.contrib.learn.mode_keys",
        "RunConfig": "frontends.tf.contrib.learn.run_config",
        "make_export_strategy": "frontends.tf.contrib.learn.export_strategy",
    },
)
