"""Plans with their passes give what plans without them give, in branches and loops too."""

import linecache
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import minitf as tf

PLAIN = tf.ConfigProto(
    graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=-1))
)
UNARY = [
    tf.tanh, tf.sigmoid, tf.negative, tf.zeros_like, tf.identity, tf.nn.relu,
    lambda h: tf.reduce_sum(h, axis=tf.constant([], tf.int32)),
    lambda h: tf.reshape(h, tf.shape(h)),
    lambda h: h + tf.fill([3], 0.5),
    lambda h: h * tf.cast(tf.size(h) + tf.constant(2), tf.float32),
    lambda h: tf.concat([h[:, :1], h[:, 1:]], 1),
    lambda h: tf.add_n(tf.split(h, 3, axis=1)) + h,
    lambda h: tf.reduce_mean(h, 0, keepdims=True) * h,
]  # fmt: skip
BINARY = [tf.add, tf.multiply, tf.subtract, tf.maximum, lambda a, b: tf.matmul(a, b, True) + b[:1]]
LEAVES = st.tuples(st.just("op"), st.integers(0, 99), st.integers(0, 99))


def blocks(inner):
    """Steps that hold lists of steps."""
    steps = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        LEAVES,
        st.tuples(st.just("cond"), st.integers(0, 3), steps, steps),
        st.tuples(st.just("while"), st.integers(0, 3), steps),
        st.tuples(st.just("array"), st.integers(1, 3), steps),
        st.tuples(st.just("grow"), st.integers(0, 3), steps),
    )


STEPS = st.recursive(LEAVES, blocks, max_leaves=8)


class Builder:
    """Makes the ops of steps: `outer` are tensors that any step may take."""

    def __init__(self, flag, outer):
        self.flag = flag
        self.outer = outer

    def run(self, steps, h, i=None):
        for kind, *what in steps:
            h = getattr(self, kind)(h, i, *what)
        return h

    def op(self, h, i, which, other):
        if which % 3:
            return UNARY[which % len(UNARY)](h)
        return BINARY[which % len(BINARY)](h, self.outer[other % len(self.outer)])

    def cond(self, h, i, which, yes, no):
        known = tf.constant(which == 3)
        pred = [self.flag, tf.reduce_sum(h) > 0, known if i is None else i < 1, known][which]
        return tf.cond(pred, lambda: self.run(yes, h, i), lambda: self.run(no, h, i))

    def _while(self, h, i, times, steps):
        def body(j, g):
            return j + 1, self.run(steps, g, j)

        return tf.while_loop(lambda j, _: j < times, body, [tf.constant(0), h])[1]

    def array(self, h, i, times, steps):
        """Reads rows of one array, writes those of another."""
        given = tf.TensorArray(tf.float32, times).unstack(tf.stack([h] * times) * 0.5)

        def body(j, g, made):
            g = self.run(steps, g + given.read(j), j)
            return j + 1, g, made.write(j, g)

        start = [tf.constant(0), h, tf.TensorArray(tf.float32, times)]
        _, last, made = tf.while_loop(lambda j, *_: j < times, body, start)
        return last + tf.reduce_sum(made.stack(), 0)

    def grow(self, h, i, times, steps):
        """A loop variable that gains a row in each iteration, beside one that keeps its shape."""

        def body(j, g, rows):
            return j + 1, self.run(steps, g, j), tf.concat([rows, tf.tanh(rows[:1] * g[:1])], 0)

        start = [tf.constant(0), h, h]
        shapes = [tf.TensorShape([]), h.shape, tf.TensorShape([None, 3])]
        _, last, rows = tf.while_loop(lambda j, *_: j < times, body, start, shape_invariants=shapes)
        return last + tf.reduce_sum(rows, 0)


setattr(Builder, "while", Builder._while)


def values_of(fetches, feeds, config):
    with tf.Session(config=config) as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(fetches, feeds) for _ in range(3)]


@given(st.lists(STEPS, min_size=1, max_size=4), st.booleans(), st.booleans(), st.integers(0, 99))
@settings(
    max_examples=60, deadline=None, phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
def test_random_branches_and_loops(steps, known, flag, seed):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [3, 3] if known else [None, 3])
        yes = tf.placeholder(tf.bool, [])
        v = tf.get_variable("v", [3, 3], initializer=tf.constant_initializer(0.7))
        y = Builder(yes, [x, v, tf.constant(0.3, shape=[3, 3])]).run(steps, x * v)
        fetches = [y, *(g for g in tf.gradients(y, [x, v]) if g is not None)]
        feeds = {x: np.random.RandomState(seed).randn(3, 3).astype("f"), yes: flag}
        want = values_of(fetches, feeds, PLAIN)
        got = values_of(fetches, feeds, None)
    for one, other in zip(want, got):
        for a, b in zip(one, other):
            assert a.dtype == b.dtype and a.shape == b.shape
            np.testing.assert_array_equal(a, b)


def last_plan():
    """The text of the plan that was compiled last."""
    plans = [name for name in linecache.cache if name.startswith("<minitf plan")]
    newest = max(plans, key=lambda name: int(name.split()[-1][:-1]))
    return "".join(linecache.cache[newest][2])


def test_what_is_known_in_a_branch_leaves_it_a_branch():
    """Each value of the branches is known beforehand; which of them comes out is not."""
    x = tf.placeholder(tf.float32, [2])

    def body(i, y):
        kept = tf.cond(tf.equal(i % 2, 0), lambda: tf.zeros([2]) + 3.0, lambda: tf.zeros([2]))
        return i + 1, y + kept

    _, y = tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), x])
    with tf.Session() as sess:
        assert sess.run(y, {x: [1.0, 2.0]}).tolist() == [7.0, 8.0]
    assert "k_Fill" not in last_plan()


def test_a_loop_in_a_branch_not_taken_in_a_loop():
    """The counter of its gradient enters it all the same, as a constant."""
    x = tf.placeholder(tf.float32, [])

    def body(i, y):
        def inner():
            return tf.while_loop(lambda j, _: j < 2, lambda j, z: (j + 1, z * z), [0, y])[1]

        return i + 1, tf.cond(i < 1, inner, lambda: y * 3.0)

    _, y = tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), x])
    (grad,) = tf.gradients(y, x)
    for config in (None, PLAIN):
        with tf.Session(config=config) as sess:
            assert sess.run([y, grad], {x: 2.0}) == [144.0, 288.0]


def test_shapes_in_a_loop_that_are_known_cost_nothing_in_it():
    w = tf.get_variable("w", [5, 4], initializer=tf.ones_initializer())

    def body(i, h):
        return i + 1, tf.tanh(tf.matmul(tf.concat([h, h[:, :1]], 1), w))

    _, h = tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), tf.ones([2, 4])])
    (grad,) = tf.gradients(h, [w])
    with tf.Session() as sess:
        sess.run(w.initializer)
        sess.run(grad)
    text = last_plan()
    for op in ("FloorMod", "ConcatOffset", "ShapeN", "Shape"):
        assert f"k_{op}(" not in text


def run_both(fetches, feeds):
    """The values of plans without passes and of the plans for these shapes, which must be equal."""
    want, got = values_of(fetches, feeds, PLAIN), values_of(fetches, feeds, None)
    for one, other in zip(want, got):
        for a, b in zip(one, other):
            np.testing.assert_array_equal(a, b)
    return got[-1]


def test_shapes_of_feeds_reach_into_loops_and_their_gradients():
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, 3, 5])
    _, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(4), x, dtype=tf.float32)
    grads = tf.gradients(state.h, tf.trainable_variables())
    run_both(grads, {x: np.random.RandomState(0).randn(2, 3, 5).astype("f")})
    text = last_plan()
    for op in ("BroadcastGradientArgs", "Shape", "ShapeN", "Sum", "Reshape", "MatMul"):
        assert f"k_{op}(" not in text
    assert text.count("k_StackPushV2(") == text.count("k_StackPopV2(") == 7


def test_a_loop_variable_that_grows_has_no_known_size():
    x = tf.placeholder(tf.float32, [None])
    _, y = tf.while_loop(
        lambda i, _: i < 3,
        lambda i, y: (i + 1, tf.concat([y, y], 0)),
        [tf.constant(0), x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )
    size, grad = run_both([tf.size(y), tf.gradients(y, x)[0]], {x: [1.0, 2.0]})
    assert size == 16
    assert grad.tolist() == [8.0, 8.0]


def test_an_iteration_that_never_comes_may_not_fit():
    x = tf.placeholder(tf.float32, [None, 2])
    n = tf.placeholder(tf.int32, [])
    w = tf.ones([2, 2])

    def body(i, y):
        return i + 1, y[:2] + w

    _, y = tf.while_loop(
        lambda i, _: i < n,
        body,
        [tf.constant(0), x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])],
    )
    (value,) = run_both([y], {x: [[1.0, 2.0]] * 3, n: 0})
    assert value.shape == (3, 2)
    assert run_both([y], {x: [[1.0, 2.0]] * 3, n: 1})[0].shape == (2, 2)


def test_rows_of_an_array_of_which_some_were_never_written():
    x = tf.placeholder(tf.float32, [None])
    made = tf.TensorArray(tf.float32, 3, element_shape=[2], clear_after_read=False).write(1, x)
    rows = tf.stack([made.read(0), made.read(1)])
    total = tf.while_loop(
        lambda i, _: i < 3,
        lambda i, s: (i + 1, s + made.read(i) * x),
        [tf.constant(0), tf.zeros([2])],
    )[1]
    value, total, _ = run_both([rows, total, tf.gradients(total, x)[0]], {x: [1.0, 2.0]})
    assert value.tolist() == [[0.0, 0.0], [1.0, 2.0]]
    assert total.tolist() == [1.0, 4.0]


def test_a_loop_copies_what_its_products_take_transposed_once():
    w = tf.get_variable("w", [64, 80], initializer=tf.random_normal_initializer(stddev=0.1, seed=1))
    small = tf.get_variable("small", [80, 8], initializer=tf.ones_initializer())

    def body(i, h):
        wide = tf.matmul(h, w)
        return i + 1, tf.tanh(tf.matmul(wide, w, transpose_b=True)) + tf.reduce_sum(wide @ small)

    start = [tf.constant(0), tf.constant(0.01, shape=[8, 64])]
    _, h = tf.while_loop(lambda i, _: i < 3, body, start)
    fetches = [h, *tf.gradients(h, [w, small])]
    for a, b in zip(values_of(fetches, {}, PLAIN)[-1], values_of(fetches, {}, None)[-1]):
        np.testing.assert_allclose(a, b, rtol=1e-5)  # BLAS adds up in another order
    values_of(h, {}, None)
    text = last_plan()
    assert text.count("xp.ascontiguousarray(") == 1
    assert ".T)" in text[: text.index("while True")]
    assert ".T)" not in text[text.index("while True") :]


@pytest.mark.parametrize("whole", [False, True])
def test_of_a_gradient_only_what_a_loop_takes_is_multiplied(whole):
    """The cell joins what it reads, which wants no gradient unless it is a variable, and h."""
    ones = tf.ones([8, 16])
    x = tf.get_variable("x", initializer=ones) if whole else ones
    w = tf.get_variable("w", [16 + 64, 64], initializer=tf.random_normal_initializer(seed=1))

    def body(i, h):
        return i + 1, tf.tanh(tf.matmul(tf.concat([x, h], 1), w) / 9)

    _, h = tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), tf.ones([8, 64])])
    fetches = [h, *tf.gradients(h, [w, x] if whole else [w])]
    for a, b in zip(values_of(fetches, {}, PLAIN)[-1], values_of(fetches, {}, None)[-1]):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)  # BLAS adds up in another order
    factors = re.findall(r"xp.ascontiguousarray\((.*)\)", last_plan())
    assert [re.sub(r"^v\d+", "w", factor) for factor in factors] == [
        "w.T" if whole else "w[16:80].T"
    ]
    assert ("k_Slice(" in last_plan()) is whole


def test_a_variable_that_a_loop_updates_is_read_in_each_iteration():
    w = tf.get_variable("w", [64, 64], use_resource=False, initializer=tf.ones_initializer())

    def body(i, h):
        h = tf.matmul(h, w, transpose_b=True)
        with tf.control_dependencies([h]), tf.control_dependencies([w.assign_add(w)]):
            return i + 1, tf.identity(h)

    _, h = tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), tf.ones([8, 64])])
    plain, optimised = (values_of(h, {}, config) for config in (PLAIN, None))
    np.testing.assert_array_equal(plain, optimised)
