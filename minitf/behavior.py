"""What chose between TensorFlow 1 and 2 in 1.15: here it is always graph mode and TensorFlow 1."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from minitf.default import control_dependencies
from minitf.ops.left_out import left_out

__all__ = [
    "control_flow_v2_enabled", "disable_control_flow_v2", "disable_eager_execution",
    "disable_tensor_equality", "disable_v2_behavior", "disable_v2_tensorshape",
    "enable_control_flow_v2", "enable_eager_execution", "enable_tensor_equality",
    "enable_v2_behavior", "enable_v2_tensorshape", "executing_eagerly", "init_scope",
]  # fmt: skip

enable_control_flow_v2 = left_out("enable_control_flow_v2")
enable_eager_execution = left_out("enable_eager_execution")
enable_tensor_equality = left_out("enable_tensor_equality")
enable_v2_behavior = left_out("enable_v2_behavior")
enable_v2_tensorshape = left_out("enable_v2_tensorshape")


def executing_eagerly() -> bool:
    """Whether ops run as they are made: never."""
    return False


def control_flow_v2_enabled() -> bool:
    """Whether cond and while_loop make functional ops: never."""
    return False


def disable_control_flow_v2() -> None:
    """Nothing to do: it is never enabled."""


def disable_eager_execution() -> None:
    """Nothing to do: it is never enabled."""


def disable_tensor_equality() -> None:
    """Nothing to do: `==` of tensors is always identity."""


def disable_v2_behavior() -> None:
    """Nothing to do: it is never enabled."""


def disable_v2_tensorshape() -> None:
    """Nothing to do: sizes are always Dimensions."""


@contextmanager
def init_scope() -> Iterator[None]:
    """Ops made inside are outside of all loops and branches, and wait for nothing."""
    with control_dependencies(None):
        yield
