"""Branches and loops run as Python's if and while, with the values that the program means."""

import numpy as np
import pytest

from minitf.convert import constant
from minitf.ops.apply import apply_op as op
from minitf.ops.case import switch_case
from minitf.ops.control_flow import cond, while_loop
from minitf.session import Session
from minitf.tensor_shape import TensorShape
from minitf.variables import Variable
from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.types import float32, int32


def fed(shape=()):
    return op("Placeholder", dtype=float32, shape=shape, name="x")


@pytest.mark.parametrize("value, want", [(2.0, 4.0), (5.0, -5.0)])
def test_cond(value, want):
    x = fed()
    y = cond(op("Less", x, 3.0), lambda: op("Mul", x, 2.0), lambda: op("Neg", x))
    assert Session().run(y, {x: value}) == want


@pytest.mark.parametrize("value, want", [(0.5, 100.5), (2.0, 202.0), (7.0, 7.0)])
def test_nested_cond(value, want):
    x = fed()

    def inner():
        return cond(op("Less", x, 1.0), lambda: op("Add", x, 100.0), lambda: op("Add", x, 200.0))

    y = cond(op("Less", x, 3.0), inner, lambda: x)
    assert Session().run(y, {x: value}) == want


def test_the_branch_not_taken_does_not_run():
    x = fed()
    bad = constant(-1)

    def fails():
        return op("Reshape", op("Fill", [2], 1.0), [op("Mul", bad, 3)])

    y = cond(op("Less", x, 3.0), lambda: op("Fill", [2], x), fails)
    assert Session().run(y, {x: 1.0}).tolist() == [1.0, 1.0]
    with pytest.raises(InvalidArgumentError):
        Session().run(y, {x: 4.0})


def test_several_results_and_structure():
    x = fed()
    y = cond(op("Less", x, 3.0), lambda: {"a": x, "b": (x, x)}, lambda: {"a": x, "b": (x, x)})
    assert Session().run(y, {x: 1.0}) == {"a": 1.0, "b": (1.0, 1.0)}


def test_while():
    x = fed()
    i, y = while_loop(
        lambda i, y: op("Less", i, 5),
        lambda i, y: (op("Add", i, 1), op("Mul", y, x)),
        [constant(0), constant(1.0)],
    )
    assert Session().run([i, y], {x: 2.0}) == [5, 32.0]


def test_a_loop_that_never_runs():
    y = while_loop(lambda y: op("Less", y, 0.0), lambda y: op("Add", y, 1.0), [constant(3.0)])
    assert Session().run(y) == 3.0


def test_swapped_variables():
    """Fibonacci: the variables change together."""
    _, a, _ = while_loop(
        lambda i, a, b: op("Less", i, 10),
        lambda i, a, b: (op("Add", i, 1), b, op("Add", a, b)),
        [constant(0), constant(0), constant(1)],
    )
    assert Session().run(a) == 55


def test_nested_loops_with_cond():
    def body(i, y):
        _, z = while_loop(
            lambda j, z: op("Less", j, i),
            lambda j, z: (op("Add", j, 1), op("Add", z, 1.0)),
            [constant(0), y],
        )
        kept = cond(op("Less", i, 2), lambda: z, lambda: op("Mul", z, 2.0))
        return op("Add", i, 1), kept

    out = while_loop(lambda i, y: op("Less", i, 4), body, [constant(0), constant(0.0)])
    want = 0.0
    for i in range(4):
        want += i
        want = want if i < 2 else want * 2
    assert Session().run(out) == (4, want) or Session().run(out) == [4, want]


def test_loop_in_cond():
    x = fed()

    def loop():
        return while_loop(lambda y: op("Less", y, 10.0), lambda y: op("Add", y, 3.0), [x])

    y = cond(op("Less", x, 5.0), loop, lambda: op("Neg", x))
    session = Session()
    assert session.run(y, {x: 1.0}) == 10.0
    assert session.run(y, {x: 6.0}) == -6.0


def test_maximum_iterations():
    y = while_loop(
        lambda y: op("Less", y, 100.0),
        lambda y: op("Add", y, 1.0),
        [constant(0.0)],
        maximum_iterations=7,
    )
    assert Session().run(y) == 7.0


def test_shapes_must_hold_or_be_declared():
    def grow(y):
        return op("ConcatV2", [y, y], 0)

    with pytest.raises(ValueError, match="shape_invariants"):
        while_loop(lambda y: op("Less", op("Size", y), 8), grow, [constant([1.0])])
    y = while_loop(
        lambda y: op("Less", op("Size", y), 8),
        grow,
        [constant([1.0])],
        shape_invariants=[TensorShape([None])],
    )
    assert Session().run(y).tolist() == [1.0] * 8


def test_inside_cannot_be_fetched():
    seen = []
    x = fed()
    cond(op("Less", x, 3.0), lambda: seen.append(op("Neg", x)) or seen[0], lambda: x)
    with pytest.raises(ValueError, match="not fetchable"):
        Session().run(seen[0], {x: 1.0})


def test_wrong_arguments():
    x = fed()
    with pytest.raises(TypeError, match="pred must not be a Python bool"):
        cond(True, lambda: x, lambda: x)
    with pytest.raises(TypeError, match="true_fn must be callable"):
        cond(op("Less", x, 3.0), 3, lambda: x)
    with pytest.raises(ValueError, match="must have the same type"):
        cond(op("Less", x, 3.0), lambda: x, lambda: constant(1))
    with pytest.raises(ValueError, match="No loop variables"):
        while_loop(lambda: True, lambda: (), [])


def test_large_values_pass_through_a_loop():
    start = constant(np.ones(1000, "f"))
    _, y = while_loop(
        lambda i, y: op("Less", i, 100),
        lambda i, y: (op("Add", i, 1), op("Add", y, 1.0)),
        [constant(0), start],
    )
    assert Session().run(y).tolist() == [101.0] * 1000


@pytest.mark.parametrize("index, want", [(0, 10.0), (1, 20.0), (2, 30.0), (-1, 30.0), (7, 30.0)])
def test_switch_case(index, want):
    i = op("Placeholder", dtype=int32, shape=(), name="i")
    y = switch_case(
        i, {1: lambda: constant(20.0), 0: lambda: constant(10.0)}, lambda: constant(30.0)
    )
    assert Session().run(y, {i: index}) == want


def test_switch_case_without_default_takes_the_last():
    i = op("Placeholder", dtype=int32, shape=(), name="i")
    y = switch_case(i, [lambda: constant(10.0), lambda: constant(20.0)])
    assert [Session().run(y, {i: n}) for n in (0, 1, 5)] == [10.0, 20.0, 20.0]


@pytest.mark.parametrize("functions", [[], {1: lambda: 0.0}, [(0, 1)], {"a": lambda: 0.0}, 3])
def test_switch_case_refuses_other_functions(functions):
    with pytest.raises((TypeError, ValueError), match="branch|key"):
        switch_case(constant(0), functions)


def test_a_branch_may_assign_the_variable_that_chose_it():
    """The choice is that of the value read, whatever the variable becomes."""
    v = Variable(True)
    y = cond(v, lambda: v.assign(False), lambda: True)
    with Session() as session:
        session.run(v.initializer)
        assert [session.run(y), session.run(y)] == [False, True]


def test_a_loop_starts_with_what_a_variable_holds():
    v = Variable(1.0, use_resource=False)
    y = while_loop(lambda x: op("Less", x, 10.0), lambda x: op("Mul", x, 2.0), [v])
    assert y.op._inputs[0].op._inputs[0].op._inputs[0].op._inputs[0] is v._snapshot
    with Session() as session:
        session.run(v.initializer)
        assert session.run([y, v]) == [16.0, 1.0]


def test_a_loop_over_a_reference_changes_the_variable():
    """As TensorFlow 1.15 builds it: the ops of the body see the reference."""
    v = Variable(1.0, use_resource=False, name="v")
    y = while_loop(
        lambda i, ref: op("Less", i, 3),
        lambda i, ref: (op("Add", i, 1), op("AssignAdd", ref, 2.0)),
        [constant(0), v._ref()],
    )[1]
    assert [o.type for o in y.graph.get_operations() if o.type.startswith("Ref")] == (
        "RefEnter RefMerge RefSwitch RefIdentity RefNextIteration RefExit".split()
    )
    assert y.op.colocation_groups() == [b"loc:@v"]
    with Session() as session:
        session.run(v.initializer)
        assert session.run([op("Identity", y), v])[0] == 7.0
        assert session.run(v) == 7.0


def test_a_value_cannot_follow_a_reference():
    v = Variable(1.0, use_resource=False)
    text = (
        "Input 1 of node while/Merge was passed float from while/NextIteration:0 incompatible "
        "with expected float_ref."
    )
    with pytest.raises(InvalidArgumentError) as caught:
        while_loop(lambda x: op("Less", x, 10.0), lambda x: op("Mul", x, 2.0), [v._ref()])
    assert str(caught.value) == text
