"""The cheapest change: found by placing anew, and only where one request makes a tensor cross."""

from __future__ import annotations

import numpy as np
import pytest

import minitf as tf
from minitf.viz.capture import Captured, step_of
from minitf.viz.changes import cheapest_changes
from minitf_runtime.graph import Graph

CLUSTER = tf.train.ClusterSpec({"ps": ["a:1", "a:2"], "worker": ["b:1"]})
WORKER, PS1 = "/job:worker/task:0", "/job:ps/task:1"
TABLE = 2000 * 64 * 4
BATCH = 100
LOOKED_UP = BATCH * 4 + 4 + BATCH * 64 * 4  # ids and the axis go there, rows come back


@pytest.fixture(autouse=True)
def graph():
    tf.reset_default_graph()


def changes(*made):
    captured = Captured(("worker", 0), CLUSTER)
    cut = step_of(captured, [m.op.name for m in made])
    return cheapest_changes(Graph(captured.graph.nodes()), cut, BATCH, False)


def table(device=PS1):
    with tf.device(device):
        return tf.get_variable("table", [2000, 64])


def ids():
    with tf.device(WORKER):
        return tf.placeholder(tf.int32, [None], name="ids")


def used(value):
    with tf.device(WORKER):
        return tf.exp(value)


def test_beside_the_table_where_no_request_is_not_enough():
    """Without its request the gather would go to ps 0, and the table with it."""
    with tf.device(WORKER):
        rows = tf.gather(table(), ids())
    (change,) = changes(used(rows))
    assert change.change == "beside 'table/read'"
    assert (change.tensor, change.op, change.bytes) == ("table/read", "GatherV2", TABLE)
    assert change.instead == LOOKED_UP
    assert change.step_before - change.step_after == change.bytes - change.instead


def test_without_the_request():
    with tf.device(WORKER):
        rows = tf.gather(table("/job:ps/task:0"), ids())
    (change,) = changes(used(rows))
    assert change.change == "without the request"
    assert change.asked == "with tf.device('/job:worker/task:0')"
    assert change.at.startswith(__file__)


def test_behind_ops_that_pass_it_on():
    with tf.device(WORKER):
        rows = tf.gather(tf.identity(table()), ids())
    (change,) = changes(used(rows))
    assert change.instead == LOOKED_UP


def test_a_sum_that_could_be_made_there():
    with tf.device(WORKER):
        norm = tf.reduce_sum(table())
    (change,) = changes(used(norm))
    assert (change.op_type, change.instead) == ("Sum", 4 + 2 * 4)  # and its two axes


def test_a_constant_could_be_made_here():
    with tf.device(PS1):
        basis = tf.constant(np.ones((200, 200), "f"), name="basis")
    with tf.device(WORKER):
        made = tf.matmul(basis, basis, name="made")
    (change,) = changes(made)
    assert (change.op, change.change, change.instead) == ("basis", "beside 'made'", 0)


def test_what_is_needed_whole_has_no_change():
    whole = used(table())
    with tf.device(WORKER):
        rows = tf.gather(tf.trainable_variables()[0], ids())
    assert changes(whole, used(rows)) == []


def test_small_transfers_are_left_alone():
    with tf.device(PS1):
        small = tf.get_variable("small", [10, 4])
    with tf.device(WORKER):
        rows = tf.gather(small, ids())
    assert changes(used(rows)) == []


def test_computing_is_not_moved():
    """A MatMul on the ps would send less, and make the ps do the work."""
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [1, 2000])
        assert changes(tf.matmul(x, table())) == []
