"""What layers of TensorFlow's own style are written with."""

from minitf.layers.arguments import smart_cond

__all__ = ["smart_cond"]
