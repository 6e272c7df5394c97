"""tf.sets."""

from minitf.ops.sets import set_difference, set_intersection, set_size, set_union
from minitf.ops.sets import set_difference as difference
from minitf.ops.sets import set_intersection as intersection
from minitf.ops.sets import set_size as size
from minitf.ops.sets import set_union as union

__all__ = [
    "difference",
    "intersection",
    "set_difference",
    "set_intersection",
    "set_size",
    "set_union",
    "size",
    "union",
]
