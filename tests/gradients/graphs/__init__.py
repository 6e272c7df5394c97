"""Small programs whose gradient graphs are compared, op by op, with those of TensorFlow 1.15.5."""

from gradients.graphs import arrays, driver, math, nn  # noqa: F401
from gradients.graphs.core import CASES, lines

__all__ = ["CASES", "lines"]
