"""What is known of a tensor's value while the graph is built."""

from minitf.ops.constant_value import constant_value, is_tensor

__all__ = ["constant_value", "is_tensor"]
