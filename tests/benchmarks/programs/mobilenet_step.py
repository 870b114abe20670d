"""MobileNetV2's training step as a TensorFlow script writes it; loaded anew for each trace, so never converted before."""

from collections.abc import Callable
from typing import Any


def step_of(tf: Any, model: Any, optimizer: Any, losses: Any) -> Callable[[Any, Any], Any]:
    """Makes the step."""

    def loss_of(labels: Any, logits: Any) -> Any:
        loss = tf.nn.compute_average_loss(losses(labels, logits))
        if model.losses:
            loss += tf.nn.scale_regularization_loss(tf.add_n(model.losses))
        return loss

    def train_step(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(images, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    return train_step
