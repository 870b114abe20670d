"""The estimators that TensorFlow brings: linear models and networks of feature columns.

A *head* knows labels, loss, predictions and metrics of a task; a *model* computes logits of features. An estimator puts both
together, with optimizers. Those of TensorFlow 1, in `tf.compat.v1.estimator`, add up the losses of a batch, and train with
`tf.compat.v1.train`; those of `tf.estimator` average them, and train as Keras's optimizers do.
"""
