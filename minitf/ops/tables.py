"""Initializers of lookup tables, which other modules put into the collection."""

from __future__ import annotations

from minitf.default import GraphKeys, get_collection
from minitf.operation import Operation
from minitf.ops.group import group, no_op

__all__ = ["initialize_all_tables", "tables_initializer"]


def tables_initializer(name: str = "init_all_tables") -> Operation:
    """An op that initializes all tables of the default graph; a NoOp if there are none."""
    initializers = get_collection(GraphKeys.TABLE_INITIALIZERS)
    return group(*initializers, name=name) if initializers else no_op(name=name)


def initialize_all_tables(name: str = "init_all_tables") -> Operation:
    """The old name of tables_initializer."""
    return tables_initializer(name)
