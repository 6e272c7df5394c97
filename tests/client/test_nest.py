"""tf.nest: flattening, packing and mapping of nested structures."""

from __future__ import annotations

from collections import OrderedDict, namedtuple

import pytest

from minitf import nest

Pair = namedtuple("Pair", "a b")


def test_flatten():
    assert nest.flatten(3) == [3]
    assert nest.flatten([1, (2, [3]), {"b": 5, "a": 4}]) == [1, 2, 3, 4, 5]
    assert nest.flatten(Pair(1, [2, None])) == [1, 2, None]
    assert nest.flatten([]) == []
    assert nest.flatten("text") == ["text"]


def test_keys_must_sort():
    with pytest.raises(TypeError, match="sortable keys"):
        nest.flatten({1: 1, "a": 2})


def test_pack():
    structure = [1, Pair(2, (3,)), OrderedDict([("b", 5), ("a", 4)])]
    packed = nest.pack_sequence_as(structure, "vwxyz")
    assert packed == ["v", Pair("w", ("x",)), OrderedDict([("b", "z"), ("a", "y")])]
    assert isinstance(packed[1], Pair)
    assert list(packed[2]) == ["b", "a"]
    assert nest.pack_sequence_as(0, [7]) == 7


def test_pack_needs_the_right_number():
    with pytest.raises(ValueError, match="Structure had 2 elements, but flat_sequence had 3"):
        nest.pack_sequence_as([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="Structure is a scalar"):
        nest.pack_sequence_as(1, [1, 2])


def test_map():
    assert nest.map_structure(lambda a, b: a + b, [1, {"k": 2}], [10, {"k": 20}]) == [
        11,
        {"k": 22},
    ]
    with pytest.raises(ValueError, match="at least one structure"):
        nest.map_structure(len)
    with pytest.raises(ValueError, match="Unknown keyword arguments"):
        nest.map_structure(len, [], wrong=1)


def test_same_structure():
    nest.assert_same_structure([1, (2,)], [3, (4,)])
    nest.assert_same_structure([1], (1,), check_types=False)
    with pytest.raises(ValueError, match="don't have the same nested structure"):
        nest.assert_same_structure([1, 2], [1, [2]])
    with pytest.raises(TypeError, match="same sequence type"):
        nest.assert_same_structure([1], (1,))
    with pytest.raises(ValueError, match="same set of keys"):
        nest.assert_same_structure({"a": 1}, {"b": 1})


def test_deep_structures_do_not_recurse():
    deep = []
    for _ in range(5_000):
        deep = [deep, 1]
    assert len(nest.flatten(deep)) == 5_000
