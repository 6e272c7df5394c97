"""What is made while collection is paused counts as old, and still goes when nobody holds it."""

from __future__ import annotations

import gc
import weakref

import pytest

import minitf as tf
from minitf_runtime import garbage


class Ring:
    def __init__(self):
        self.me = self


@pytest.fixture(autouse=True)
def old(monkeypatch):
    made = garbage._Old()
    monkeypatch.setattr(garbage, "_old", made)
    return made


def rings(count):
    with garbage.collection_paused():
        return [Ring() for _ in range(count)]


def test_new_objects_are_old_at_the_end(old):
    made = rings(1000)
    assert gc.get_count()[0] < 1000
    assert old.new >= 1000
    assert any(o is made[0] for o in gc.get_objects(2))


def test_a_new_graph_ends_dead_ones_once_there_are_many(old, monkeypatch):
    monkeypatch.setattr(old, "limit", 5000)
    ring = weakref.ref(rings(1)[0])
    tf.Graph()
    assert ring() is not None
    rings(5000)
    tf.Graph()
    assert ring() is None
    assert old.new == 0
    assert old.limit >= garbage.FEWEST


def test_without_new_graphs_they_end_later(old, monkeypatch):
    monkeypatch.setattr(old, "limit", 1000)
    ring = weakref.ref(rings(1)[0])
    for _ in range(2 * garbage.PATIENCE):
        rings(1000)
    assert ring() is None


def test_who_has_switched_collection_off_is_obeyed(old):
    gc.disable()
    try:
        old.new = old.limit * 100
        ring = weakref.ref(rings(1)[0])
        tf.Graph()
        assert ring() is not None
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_the_user_has_frozen_stays_frozen():
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        rings(10)
        assert gc.get_freeze_count() >= frozen - 100
    finally:
        gc.unfreeze()
