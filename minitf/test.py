"""tf.test: what tests of models need. Explicit imports, no logic."""

from minitf.gradients.checker import compute_gradient, compute_gradient_error

__all__ = ["compute_gradient", "compute_gradient_error"]
