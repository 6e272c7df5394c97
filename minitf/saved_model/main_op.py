"""tf.saved_model.main_op: ops that initialize a loaded model."""

from __future__ import annotations

from typing import Any

from minitf.default import control_dependencies
from minitf.operation import Operation
from minitf.ops.group import group
from minitf.ops.tables import tables_initializer
from minitf.variables import global_variables_initializer, local_variables_initializer

__all__ = ["main_op", "main_op_with_restore"]


def main_op() -> Operation:
    """Initializes all variables and tables."""
    return group(
        global_variables_initializer(), local_variables_initializer(), tables_initializer()
    )


def main_op_with_restore(restore_op_name: Any) -> Operation:
    """Initializes all, then runs the given op, which restores."""
    with control_dependencies([main_op()]):
        return group(restore_op_name)
