"""Variables, scopes, partitions and the device setter build what TensorFlow 1.15 builds."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest

import minitf as tf
from data.variables.record import PROGRAMS
from recording import load, record

RECORDED = load(Path(__file__).parents[1] / "data" / "variables" / "graphs.json.gz")


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_recorded(program):
    got = record(tf, PROGRAMS[program])
    assert got["said"] == RECORDED[program]["said"]
    assert got["nodes"] == RECORDED[program]["nodes"]


both_kinds = pytest.mark.parametrize("use_resource", [False, True])


@pytest.fixture
def session():
    with tf.Session() as session:
        yield session


def started(session):
    session.run(tf.global_variables_initializer())
    return session


@both_kinds
def test_updates(use_resource, session):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=use_resource)
    rows = tf.IndexedSlices([[5.0, 5.0]], [0])
    steps = [
        (v.assign_add([[1, 1], [1, 1]]), [[2, 3], [4, 5]]),
        (v.assign_sub([[2, 0], [0, 0]]), [[0, 3], [4, 5]]),
        (v[0].assign([7, 8]), [[7, 8], [4, 5]]),
        (tf.scatter_add(v, [1, 1], [[1, 1], [2, 2]]), [[7, 8], [7, 8]]),
        (tf.scatter_mul(v, 0, [2, 3]), [[14, 24], [7, 8]]),
        (tf.scatter_nd_update(v, [[1, 0]], [0.5]), [[14, 24], [0.5, 8]]),
        (v.scatter_update(rows), [[5, 5], [0.5, 8]]),
        (v.scatter_max(rows), [[5, 5], [0.5, 8]]),
        (tf.batch_scatter_update(v, [[1], [0]], [[9.0], [6.0]]), [[5, 9], [6, 8]]),
        (tf.assign(v, [[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
    ]
    started(session)
    for update, expected in steps:
        assert session.run(update).tolist() == expected
        assert session.run(v).tolist() == expected


@both_kinds
def test_operators_and_slices(use_resource, session):
    v = tf.Variable([1.0, 2.0, 4.0], use_resource=use_resource)
    started(session)
    assert session.run(-v + 1 - 2.0 * v / 4).tolist() == [-0.5, -2, -5]
    assert session.run([v[0], v[1:], v > 1, 2**v])[1].tolist() == [2, 4]
    with pytest.raises(TypeError, match="'Variable' object is not iterable."):
        iter(v)


@both_kinds
def test_load_and_eval(use_resource, session):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    v.load([3, 4], session)
    assert v.eval().tolist() == [3, 4]
    v.load([5, 6])
    assert session.run(v).tolist() == [5, 6]


def test_load_needs_a_session():
    with pytest.raises(ValueError, match="default session should be established"):
        tf.Variable(1.0).load(2.0)


def test_in_place_operators(session):
    v, r = tf.Variable(1.0), tf.Variable(1.0, use_resource=True)
    v += 1
    assert isinstance(v, tf.Tensor)
    with pytest.raises(RuntimeError, match=r"Variable \+= value not supported"):
        r += 1


def test_uninitialized_reference(session):
    v = tf.Variable(1.0, name="layer/v")
    row = tf.Variable([1.0])
    for use in (v, v.value() + 1, tf.assign_add(v, 1), tf.scatter_add(row, [0], [1])):
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value"):
            session.run(use)
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value layer/v"):
        session.run(v)
    assert session.run(tf.report_uninitialized_variables([v])).tolist() == [b"layer/v"]


def test_uninitialized_handle(session):
    v = tf.Variable(1.0, name="r", use_resource=True)
    with pytest.raises(
        tf.errors.FailedPreconditionError,
        match="Error while reading resource variable r from Container: localhost. This could mean "
        "that the variable was uninitialized. Not found: Resource localhost/r/.* does not exist.",
    ):
        session.run(v)
    with pytest.raises(
        tf.errors.NotFoundError, match="Resource localhost/r/N10tensorflow3VarE does not exist."
    ):
        session.run(v.assign_add(1.0, read_value=False))
    assert not session.run(v.is_initialized())
    started(session)
    assert session.run(v.is_initialized())
    session.run(tf.raw_ops.DestroyResourceOp(resource=v.handle))
    assert not session.run(v.is_initialized())
    with pytest.raises(tf.errors.NotFoundError):
        session.run(tf.raw_ops.DestroyResourceOp(resource=v.handle, ignore_lookup_error=False))


def test_dependent_initial_values_need_no_order(session):
    a = tf.Variable(tf.random_uniform([3]))
    b = tf.Variable(a * 2 + 1)
    c = tf.Variable(b.initialized_value() + a.initialized_value())
    started(session)
    first, second, third = session.run([a, b, c])
    np.testing.assert_allclose(second, first * 2 + 1)
    np.testing.assert_allclose(third, first + second)


def test_shape_may_change_if_not_validated(session):
    v = tf.Variable([1.0], validate_shape=False)
    assert v.shape.ndims is None
    assert started(session).run(tf.assign(v, [1, 2], validate_shape=False)).tolist() == [1, 2]
    w = tf.Variable([1.0])
    fed = tf.placeholder(tf.float32)
    assign, add = tf.assign(w, fed), tf.assign_add(w, fed)
    started(session)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"lhs shape= \[1\] rhs shape= \[2\]"):
        session.run(assign, {fed: [1, 2]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be the same size"):
        session.run(add, {fed: [1, 2]})
    with pytest.raises(ValueError, match="must be equal"):
        tf.assign(w, [1, 2])
    assert session.run(w).tolist() == [1]


@both_kinds
def test_count_up_to(use_resource, session):
    v = tf.Variable(0, use_resource=use_resource)
    count = v.count_up_to(2)
    started(session)
    assert [session.run(count), session.run(count)] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 2"):
        session.run(count)
    assert session.run(v) == 2


def test_temporary_variable(session):
    made = tf.raw_ops.TemporaryVariable(shape=[2], dtype=tf.float32, var_name="sum")
    total = tf.assign_add(tf.assign(made, [1, 2]), [10, 10])
    result = tf.raw_ops.DestroyTemporaryVariable(ref=total, var_name="sum")
    for _ in range(2):
        assert session.run(result).tolist() == [11, 12]


@both_kinds
def test_bad_indices(use_resource, session):
    v = tf.Variable([[1.0], [2.0]], use_resource=use_resource)
    where = tf.placeholder(tf.int32, [None])
    update = tf.scatter_add(v, where, [[1.0]])
    started(session)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 2 is not in"):
        session.run(update, {where: [2]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="Must have updates.shape"):
        session.run(update, {where: [0, 1]})
    with pytest.raises(ValueError, match="must be equal"):
        tf.scatter_add(v, [0, 1], [[1.0]])
    assert session.run(v).tolist() == [[1], [2]]


def test_a_reference_is_needed():
    with pytest.raises(TypeError, match="be a mutable tensor"):
        tf.raw_ops.Assign(ref=tf.constant(1.0), value=2.0)
    with pytest.raises(ValueError, match="Incompatible type conversion"):
        tf.convert_to_tensor(tf.Variable(1.0), tf.int64)


def test_an_op_ordered_after_an_update_sees_it(session):
    v = tf.Variable(1.0)
    early = v + 0.0
    with tf.control_dependencies([early, v.assign_add(1.0)]):
        late, read = v + 0.0, v.read_value()
    assert started(session).run([early, late, read])[1:] == [2, 2]


def test_a_fetched_value_does_not_change(session):
    v = tf.Variable(np.zeros(1000, "f"))
    add = tf.assign_add(v, np.ones(1000, "f"))
    started(session)
    seen = session.run(v)
    session.run(add.op)
    assert seen.sum() == 0
    assert session.run(v).sum() == 1000


def test_variables_made_in_a_branch_are_outside_of_it(session):
    made = []

    def branch():
        made.append(tf.Variable(2.0))
        return made[0] * 2

    result = tf.cond(tf.constant(True), branch, lambda: tf.constant(0.0))
    assert made[0].op._control_flow_context is None
    assert started(session).run(result) == 4


def test_an_initial_value_from_a_loop_is_refused():
    def body(i):
        tf.Variable(i + 1)
        return i + 1

    with pytest.raises(ValueError, match="inside a control-flow construct"):
        tf.while_loop(lambda i: i < 2, body, [0])


def test_kinds_by_default():
    assert not tf.resource_variables_enabled()
    tf.enable_resource_variables()
    try:
        assert tf.get_variable("a", [1]).op.type == "VarHandleOp"
        assert tf.Variable(1.0).op.type == "VarHandleOp"
    finally:
        tf.disable_resource_variables()
    assert tf.Variable(1.0).op.type == "VariableV2"
    assert isinstance(tf.Variable(1.0), tf.Variable)


def test_partitioned_values(session):
    whole = np.arange(10, dtype="f").reshape(5, 2)
    p = tf.get_variable(
        "p", initializer=tf.constant(whole), partitioner=tf.fixed_size_partitioner(2)
    )
    started(session)
    assert session.run(tf.convert_to_tensor(p)).tolist() == whole.tolist()
    session.run(p.assign(whole + 1))
    assert session.run(tf.identity(p)).tolist() == (whole + 1).tolist()
    assert [x.shape for x in session.run(list(p))] == [(3, 2), (2, 2)]


def test_a_resource_variable_is_changed_in_its_own_graph():
    with tf.Graph().as_default():
        v = tf.Variable(1.0, use_resource=True)
    assert v.assign(2.0).graph is v.assign_add(2.0).graph is v.graph


def test_a_resource_variable_has_no_deep_copy():
    with pytest.raises(NotImplementedError, match="only available when eager execution"):
        copy.deepcopy(tf.Variable(1.0, use_resource=True))


def test_a_message_without_an_initial_value():
    v = tf.Variable(3.0)
    made = v.to_proto()
    made.ClearField("initial_value_name")
    again = tf.Variable(variable_def=made)
    assert again.to_proto() == made
    with pytest.raises(ValueError, match="must have a return value"):
        again.initialized_value()
