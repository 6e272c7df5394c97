"""Nested structures of elements: tuples and dicts. Lists are leaves here, unlike in tf.nest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from minitf.nest import with_children
from minitf.sparse_tensor import SparseTensorValue


def is_sequence(value: Any) -> bool:
    """Whether a value is a structure and no leaf."""
    if isinstance(value, SparseTensorValue):
        return False
    return isinstance(value, (tuple, Mapping))


def _parts(structure: Any) -> list[Any]:
    if isinstance(structure, Mapping):
        return [structure[key] for key in sorted(structure)]
    return list(structure)


def flatten(structure: Any) -> list[Any]:
    """The leaves in order, those of a dict by its sorted keys."""
    if not is_sequence(structure):
        return [structure]
    return [leaf for part in _parts(structure) for leaf in flatten(part)]


def pack_sequence_as(structure: Any, flat: Any) -> Any:
    """The flat values in the form of `structure`. Raises ValueError on a wrong count."""
    values = list(flat)
    wanted = len(flatten(structure))
    if len(values) != wanted:
        raise ValueError(
            f"Could not pack sequence. Structure had {wanted} elements, but flat_sequence had "
            f"{len(values)} elements.  Structure: {structure}, flat_sequence: {values}."
        )
    return _pack(structure, iter(values))


def _pack(structure: Any, flat: Iterator[Any]) -> Any:
    if not is_sequence(structure):
        return next(flat)
    return with_children(structure, [_pack(part, flat) for part in _parts(structure)])


def map_structure(func: Callable[..., Any], *structures: Any) -> Any:
    """`func` of the corresponding leaves of structures of one form."""
    for other in structures[1:]:
        assert_same_structure(structures[0], other)
    leaves = zip(*(flatten(s) for s in structures))
    return pack_sequence_as(structures[0], [func(*values) for values in leaves])


def assert_same_structure(first: Any, second: Any) -> None:
    """Raises ValueError or TypeError if the two have not the same form."""
    told = f"First structure: {first}\n\nSecond structure: {second}"
    if is_sequence(first) != is_sequence(second):
        raise ValueError(f"The two structures don't have the same nested structure.\n\n{told}")
    if not is_sequence(first):
        return
    if type(first) is not type(second):
        raise TypeError(
            "The two structures don't have the same sequence type. First structure has type "
            f"{type(first)}, while second structure has type {type(second)}."
        )
    if isinstance(first, Mapping) and set(first) != set(second):
        raise ValueError(
            "The two dictionaries don't have the same set of keys. First structure has keys "
            f"{list(first)}, while second structure has keys {list(second)}."
        )
    if len(first) != len(second):
        raise ValueError("The two structures don't have the same number of elements.\n\n" + told)
    for one, other in zip(_parts(first), _parts(second)):
        assert_same_structure(one, other)


def flatten_up_to(shallow: Any, deep: Any) -> list[Any]:
    """The parts of `deep` that stand where `shallow` has leaves. Raises TypeError, ValueError."""
    if not is_sequence(shallow):
        return [deep]
    if not is_sequence(deep):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input has type: "
            f"{type(deep)}."
        )
    if not isinstance(deep, type(shallow)):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(deep)}, while shallow structure has type {type(shallow)}."
        )
    if len(deep) != len(shallow):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(deep)}, while shallow structure has length {len(shallow)}."
        )
    if isinstance(shallow, Mapping) and set(shallow) != set(deep):
        raise ValueError(
            f"The two structures don't have the same keys. Input structure has keys {list(deep)}, "
            f"while shallow structure has keys {list(shallow)}."
        )
    pairs = zip(_parts(shallow), _parts(deep))
    return [leaf for one, other in pairs for leaf in flatten_up_to(one, other)]


def map_structure_up_to(shallow: Any, func: Callable[..., Any], *deep: Any) -> Any:
    """`func` of what stands in each structure where `shallow` has a leaf."""
    leaves = zip(*(flatten_up_to(shallow, d) for d in deep))
    return pack_sequence_as(shallow, [func(*values) for values in leaves])
