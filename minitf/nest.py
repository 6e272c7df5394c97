"""Nested structures of Python values: flattening and packing them (TF: nest).

Lists, tuples, named tuples and dicts (in the order of their sorted keys) are structures; all else
is a
leaf. With expand_composites, a value of several tensors (IndexedSlices) is a structure of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

__all__ = [
    "assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as",
]  # fmt: skip


def is_nested(value: Any) -> bool:
    """Whether `value` is a structure and no leaf."""
    return isinstance(value, (list, tuple, Mapping))


is_sequence = is_nested


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure in order; a lone leaf gives a list of one."""
    out: list[Any] = []
    stack = [structure]
    while stack:
        value = stack.pop()
        parts = children(value, expand_composites)
        if parts is None:
            out.append(value)
        else:
            stack += reversed(parts)
    return out


def children(value: Any, expand_composites: bool = False) -> list[Any] | None:
    """What a structure is made of, in order; None for a leaf."""
    if isinstance(value, Mapping):
        return [value[k] for k in _sorted_keys(value)]
    if isinstance(value, (list, tuple)):
        return list(value)
    if expand_composites and hasattr(value, "_components"):
        return value._components()  # type: ignore[no-any-return]
    return None


def _sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """The flat values put into the form of `structure`. Raises ValueError on a wrong count."""
    flat = list(flat_sequence)
    if not is_nested(structure) and not (expand_composites and hasattr(structure, "_components")):
        if len(flat) != 1:
            raise ValueError(f"Structure is a scalar but len(flat_sequence) == {len(flat)} > 1")
        return flat[0]
    wanted = len(flatten(structure, expand_composites))
    if wanted != len(flat):
        raise ValueError(
            "Could not pack sequence. Structure had "
            f"{wanted} elements, but flat_sequence had {len(flat)} elements.  "
            f"Structure: {structure}, flat_sequence: {flat}."
        )
    return _pack(structure, iter(flat), expand_composites)


def _pack(structure: Any, flat: Iterator[Any], expand_composites: bool) -> Any:
    parts = children(structure, expand_composites)
    if parts is None:
        return next(flat)
    return with_children(structure, [_pack(p, flat, expand_composites) for p in parts])


def with_children(structure: Any, packed: list[Any]) -> Any:
    """A structure of the same kind, made of other things."""
    if isinstance(structure, Mapping):
        by_key = dict(zip(_sorted_keys(structure), packed))
        return type(structure)((k, by_key[k]) for k in structure)
    if isinstance(structure, tuple) and hasattr(structure, "_fields"):
        return type(structure)(*packed)
    if isinstance(structure, (list, tuple)):
        return type(structure)(packed)
    return structure._from_components(packed)


def map_structure(func: Callable[..., Any], *structures: Any, **kwargs: Any) -> Any:
    """`func` of the corresponding leaves of structures of one form."""
    expand = kwargs.pop("expand_composites", False)
    kwargs.pop("check_types", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {sorted(kwargs)}")
    if not structures:
        raise ValueError("Must provide at least one structure")
    for other in structures[1:]:
        assert_same_structure(structures[0], other, expand_composites=expand)
    leaves = zip(*(flatten(s, expand) for s in structures))
    return pack_sequence_as(structures[0], [func(*each) for each in leaves], expand)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises ValueError if the structures differ in form, TypeError if in type."""
    stack = [(nest1, nest2)]
    while stack:
        a, b = stack.pop()
        left, right = children(a, expand_composites), children(b, expand_composites)
        if left is None and right is None:
            continue
        if left is None or right is None or len(left) != len(right):
            raise ValueError(
                "The two structures don't have the same nested structure.\n\n"
                f"First structure: {nest1}\n\nSecond structure: {nest2}"
            )
        if check_types and type(a) is not type(b):
            raise TypeError(
                "The two structures don't have the same sequence type. Input structure has type "
                f"{type(a)}, while shallow structure has type {type(b)}."
            )
        if isinstance(a, Mapping) and set(a) != set(b):
            raise ValueError(
                "The two dictionaries don't have the same set of keys. First structure has keys "
                f"{list(a)}, while second structure has keys {list(b)}"
            )
        stack += zip(left, right)


def map_structure_up_to(shallow: Any, func: Callable[..., Any], *structures: Any) -> Any:
    """`func` of the parts of structures that stand where `shallow` has its leaves.

    Raises ValueError for a structure that differs from the shallow one above its leaves.
    """
    parts = children(shallow)
    if parts is None:
        return func(*structures)
    columns = [children(s) for s in structures]
    for column, structure in zip(columns, structures):
        if column is None or len(column) != len(parts):
            raise ValueError(
                "The two structures don't have the same sequence length. Input structure is "
                f"{structure}, while shallow structure is {shallow}."
            )
    each = zip(parts, *columns)  # type: ignore[arg-type]
    return with_children(shallow, [map_structure_up_to(p, func, *below) for p, *below in each])
