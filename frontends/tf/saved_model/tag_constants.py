"""`tf.compat.v1.saved_model.tag_constants`: what a saved model is for."""

SERVING = "serve"
TRAINING = "train"
EVAL = "eval"
GPU = "gpu"
TPU = "tpu"
