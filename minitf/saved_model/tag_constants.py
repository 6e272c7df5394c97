"""tf.saved_model.tag_constants: tags that say what a graph of a SavedModel is for."""

GPU = "gpu"
SERVING = "serve"
TPU = "tpu"
TRAINING = "train"

__all__ = ["GPU", "SERVING", "TPU", "TRAINING"]
