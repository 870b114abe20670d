"""Other libraries' objects in a step: Flax NNX and Keras."""
