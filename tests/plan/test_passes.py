"""Plans with their passes give what plans without them give."""

import linecache

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import minitf as tf
from minitf_runtime.graph import Node
from minitf_runtime.plan import blocks
from minitf_runtime.plan.fuse import fuse
from minitf_runtime.types import float32

PLAIN = tf.ConfigProto(
    graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=-1))
)
UNARY = [
    tf.tanh, tf.sigmoid, tf.exp, tf.negative, tf.abs, tf.sqrt, tf.square, tf.sign, tf.floor,
    tf.nn.relu, tf.nn.elu, tf.nn.softplus, tf.nn.softsign, tf.math.rsqrt, tf.math.reciprocal,
    lambda x: tf.cast(x, tf.float64), lambda x: tf.cast(x, tf.int32),
]  # fmt: skip
BINARY = [
    tf.add, tf.subtract, tf.multiply, tf.divide, tf.maximum, tf.minimum, tf.squared_difference,
    lambda x, y: tf.cast(tf.less(x, y), x.dtype), tf.math.divide_no_nan,
    lambda x, y: tf.add_n([x, y, x]),
]  # fmt: skip


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that small arrays are cut too."""
    monkeypatch.setattr(blocks, "SMALLEST", 8)
    monkeypatch.setattr(blocks, "WORTH", 0)
    monkeypatch.setattr(blocks, "BLOCK", 8)
    monkeypatch.setattr("minitf_runtime.plan.fuse.SMALLEST", 8)


def values_of(fetches, feeds, config):
    with tf.Session(config=config) as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(fetches, feeds) for _ in range(3)]


def last_plan():
    """The text of the plan that was compiled last."""
    plans = [name for name in linecache.cache if name.startswith("<minitf plan")]
    newest = max(plans, key=lambda name: int(name.split()[-1][:-1]))
    return "".join(linecache.cache[newest][2])


@st.composite
def programs(draw):
    """Shape, whether it is known beforehand, and steps of a random program."""
    shape = draw(st.sampled_from([(0,), (5,), (64,), (3, 7), (16, 8), (1, 9), (2, 3, 11)]))
    steps = draw(
        st.lists(
            st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99)),
            min_size=1, max_size=14,
        )
    )  # fmt: skip
    return shape, draw(st.booleans()), steps, draw(st.integers(0, 2**31))


@given(programs())
@settings(max_examples=60, deadline=None, phases=[Phase.generate])
def test_random_programs(program):
    shape, known, steps, seed = program
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, shape if known else [None] * len(shape))
        row = tf.placeholder(tf.float32, shape[-1:])
        v = tf.get_variable("v", shape, initializer=tf.ones_initializer())
        made = [x, v, row, tf.constant(0.5), tf.fill(shape, 1.5)]
        for which, a, b in steps:
            left, right = made[a % len(made)], made[b % len(made)]
            if left.dtype != tf.float32:
                made.append(tf.cast(tf.negative(left), tf.float32))
            elif which % 2 or left.dtype != right.dtype or left.shape.ndims != right.shape.ndims:
                made.append(UNARY[which % len(UNARY)](left))
            else:
                made.append(BINARY[which % len(BINARY)](left, right))
        floats = [t for t in made[5:] if t.dtype == tf.float32]
        grads = [g for g in tf.gradients(floats, [x, v]) if g is not None] if floats else []
        rng = np.random.RandomState(seed % 2**31)
        fed = rng.randn(*shape).astype("f")
        fed[rng.rand(*shape) < 0.1] = rng.choice([np.nan, np.inf, -np.inf, 0.0])
        feeds = {x: fed, row: rng.randn(*shape[-1:]).astype("f")}
        before = fed.copy()
        want = values_of(made + grads, feeds, PLAIN)
        got = values_of(made + grads, feeds, None)
    np.testing.assert_array_equal(fed, before)
    for one, other in zip(want, got):
        for a, b in zip(one, other):
            assert a.dtype == b.dtype and a.shape == b.shape
            np.testing.assert_array_equal(a, b)


def test_a_chain_is_one_fusion_and_the_fold_leaves_no_shapes():
    v = tf.get_variable("v", [40], initializer=tf.ones_initializer())
    loss = tf.reduce_sum(tf.tanh(v) * tf.sigmoid(v) + 1.0)
    (grad,) = tf.gradients(loss, [v])
    with tf.Session() as sess:
        sess.run(v.initializer)
        got = sess.run(grad)
    text = last_plan()
    body = text[text.index("def run") :]
    assert text.count("def fusion") == 1
    for op in ("Sum", "Reshape", "BroadcastGradientArgs", "Shape"):
        assert f"k_{op}(" not in body
    t, s = np.tanh(1.0), 1 / (1 + np.exp(-1.0))
    np.testing.assert_allclose(got, np.full(40, (1 - t * t) * s + t * s * (1 - s)), rtol=1e-6)


def test_one_op_is_a_fusion_of_its_own_where_threads_can_share_it(monkeypatch):
    monkeypatch.setattr("minitf_runtime.plan.fuse.ALONE", 30)
    x = tf.placeholder(tf.float32, [40])
    y = tf.placeholder(tf.float32, [20])
    with tf.Session() as sess:
        got = sess.run([tf.square(x), tf.square(y)], {x: np.arange(40), y: np.arange(20)})
    np.testing.assert_array_equal(got[0], np.arange(40.0) ** 2)
    np.testing.assert_array_equal(got[1], np.arange(20.0) ** 2)
    assert last_plan().count("def fusion") == 1


def test_what_nobody_needs_does_not_run():
    """The gradient of the other factor is there, for a group waits for it, but has no user."""
    x = tf.placeholder(tf.float32, [4, 8])
    w = tf.get_variable("w", [8, 2], initializer=tf.ones_initializer())
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.matmul(x, w)))
    with tf.Session() as sess:
        sess.run(w.initializer)
        sess.run(train, {x: np.ones([4, 8], "f")})
        assert last_plan().count("xp.dot(") == 1
        np.testing.assert_allclose(sess.run(w), np.full([8, 2], 0.6), rtol=1e-6)


def test_checks_run_although_nobody_takes_their_value():
    x = tf.placeholder(tf.float32, [2])
    with tf.control_dependencies([tf.check_numerics(x, "bad x")]):
        y = tf.identity(x) + 1.0
    with tf.Session() as sess:
        assert sess.run(y, {x: [1, 2]}).tolist() == [2, 3]
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad x"):
            sess.run(y, {x: [1, np.nan]})


def test_a_fusion_does_not_reach_over_an_assignment():
    v = tf.get_variable("v", [16], initializer=tf.ones_initializer())
    before = tf.exp(v) + 1.0
    with tf.control_dependencies([before]):
        change = tf.assign_add(v, tf.ones([16]))
    with tf.control_dependencies([change]):
        after = tf.exp(v.read_value() if hasattr(v, "read_value") else v) + 1.0
    both = before * after
    for config in (None, PLAIN):
        with tf.Session(config=config) as sess:
            sess.run(v.initializer)
            got = sess.run(both)
        np.testing.assert_allclose(got, np.full(16, (np.e + 1) * (np.e**2 + 1)), rtol=1e-5)


def test_shapes_that_come_again_are_known_to_the_plan():
    x = tf.placeholder(tf.float32, [None, 8])
    bias = tf.get_variable("b", [8], initializer=tf.zeros_initializer())
    loss = tf.reduce_sum(tf.tanh(x + bias))
    (grad,) = tf.gradients(loss, [bias])
    with tf.Session() as sess:
        sess.run(bias.initializer)
        for rows in (4, 4, 4, 6, 6, 4):
            got = sess.run(grad, {x: np.zeros([rows, 8], "f")})
            assert got.tolist() == [rows] * 8
        assert "k_BroadcastGradientArgs" not in last_plan()


def test_many_shapes_keep_the_general_plan():
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(tf.exp(x) * 2.0)
    with tf.Session() as sess:
        for size in [*range(1, 30)] * 2:
            assert sess.run(y, {x: np.zeros(size, "f")}) == 2 * size


def test_a_shape_that_does_not_fit_fails_as_it_did():
    x = tf.placeholder(tf.float32)
    y = tf.add(x, tf.zeros([3]), name="y")
    with tf.Session() as sess:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)Incompatible.*node y"):
                sess.run(y, {x: [1.0, 2.0]})


def test_a_reshape_to_a_shape_that_only_the_step_knows_is_checked():
    """Its shape is inferred as that of the input, whatever the value will be."""
    x = tf.placeholder(tf.float32, [3])
    y = tf.reshape(x, tf.placeholder(tf.int32, [1], "to"))
    assert y.shape == [3]
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="has 2"):
        sess.run(y, {x: [1, 2, 3], "to:0": [2]})


def test_what_is_known_in_a_branch_changes_state_only_there():
    v = tf.get_variable("v", [], tf.int32, initializer=tf.zeros_initializer())
    yes = tf.placeholder(tf.bool, [])
    y = tf.cond(
        yes, lambda: tf.assign_add(v, tf.constant(1) + tf.constant(2)), lambda: tf.identity(v)
    )
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert [sess.run(y, {yes: value}) for value in (False, True, False)] == [0, 3, 3]


def test_an_op_of_known_inputs_alone_runs_in_each_iteration():
    def body(i, drawn):
        return i + 1, tf.concat([drawn, tf.random_uniform(tf.constant([1]) + 0)], 0)

    start = [tf.constant(0), tf.zeros([0])]
    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    _, drawn = tf.while_loop(lambda i, _: i < 5, body, start, shapes)
    with tf.Session() as sess:
        assert len(set(sess.run(drawn).tolist())) == 5


def test_passes_are_chosen_by_name(monkeypatch):
    monkeypatch.setenv("MINITF_PASSES", "fold")
    v = tf.get_variable("v", [40], initializer=tf.ones_initializer())
    y = tf.tanh(v) * 2.0
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(y)
        assert "def fusion" not in last_plan()
    monkeypatch.setenv("MINITF_PASSES", "fold,melt")
    with pytest.raises(tf.errors.InvalidArgumentError, match="'melt'; expected some of: fold"):
        tf.Session().run(y)


def test_fetched_values_stay_as_they_are():
    v = tf.get_variable("v", [64], initializer=tf.ones_initializer())
    y = tf.negative(tf.identity(v)) * 1.0
    add = tf.assign_add(v, tf.ones([64]))
    with tf.Session() as sess:
        sess.run(v.initializer)
        first = sess.run(y)
        sess.run(add)
        sess.run(y)
    assert first.tolist() == [-1] * 64


def test_a_target_that_is_known_beforehand():
    """Nothing is left to run."""
    with tf.Session() as sess:
        assert sess.run([tf.constant(1.0).op, tf.constant(2.0, name="c").op]) == [None, None]


@st.composite
def towers(draw):
    """Sizes and how many chains of products, what each starts from, and what it is made of."""
    size = draw(st.integers(1, 5))
    kinds = st.tuples(st.sampled_from("cvp"), st.booleans(), st.booleans(), st.booleans())
    return size, draw(st.lists(kinds, min_size=8, max_size=12)), draw(st.integers(1, 3))


@given(towers())
@settings(max_examples=40, deadline=None, phases=[Phase.generate])
def test_random_products_side_by_side(program):
    """Some start from the same matrix, some have a tanh between, some transpose a factor."""
    size, chains, length = program
    rng = np.random.RandomState(size)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [size, size])
        weights, outs = [], []
        for i, (kind, same, between, transposed) in enumerate(chains):
            value = rng.randn(size, size).astype("f")
            w = {"c": tf.constant(value), "v": tf.Variable(value), "p": x + value}[kind]
            h = x if same else x * float(i)
            for _ in range(length):
                h = tf.matmul(h, w, transpose_b=transposed)
                h = tf.tanh(h) if between else h
            weights.append(w)
            outs.append(h)
        fetches = outs + tf.gradients(outs, weights)
        feeds = {x: rng.randn(size, size).astype("f")}
        want, *_ = values_of(fetches, feeds, PLAIN)
        *_, got = values_of(fetches, feeds, None)
    for a, b in zip(want, got):
        np.testing.assert_array_equal(a, b)


def test_products_side_by_side_are_one_product_of_stacks():
    """Chains of two products: what is between them is never taken apart."""
    x = tf.placeholder(tf.float32, [3, 4])
    w = [tf.constant(np.full([4, 4], i, "f")) for i in range(10)]
    total = tf.add_n([tf.matmul(tf.matmul(x, a), a) for a in w])
    with tf.Session() as sess:
        got = sess.run(total, {x: np.ones([3, 4], "f")})
    text = last_plan()
    assert text.count(" = products(") == 1
    assert "xp.dot(" not in text and "k_MatMul" not in text
    assert "xp.add.reduce(stack0)" in text and "k_AddN" not in text
    np.testing.assert_array_equal(got, np.full([3, 4], 16 * sum(i * i for i in range(10)), "f"))


@pytest.mark.parametrize("fused", [True, False])
def test_a_sum_of_some_products_takes_them_one_by_one(monkeypatch, fused):
    monkeypatch.setattr("minitf_runtime.plan.fuse.SMALLEST", 8 if fused else 1 << 14)
    x = tf.placeholder(tf.float32, [3, 4])
    w = [tf.constant(np.full([4, 4], i, "f")) for i in range(10)]
    each = [tf.matmul(x, a) for a in w]
    fetches = [tf.add_n(each[1:]), tf.add_n(each[::-1]), tf.add_n(each), each[2]]
    with tf.Session() as sess:
        got = sess.run(fetches, {x: np.ones([3, 4], "f")})
    for value, times in zip(got, (45, 45, 45, 2)):
        np.testing.assert_array_equal(value, np.full([3, 4], 4 * times, "f"))


def test_products_behind_one_another_stay_apart():
    x = tf.placeholder(tf.float32, [4, 4])
    y = x
    for _ in range(12):
        y = tf.matmul(y, x)
    with tf.Session() as sess:
        got = sess.run(y, {x: np.full([4, 4], 0.25, "f")})
    assert " = products(" not in last_plan()
    np.testing.assert_allclose(got, np.full([4, 4], 0.25, "f"))


def test_no_fusion_reaches_over_a_transfer():
    """Else a part could wait for what another sends only once it has something of this part."""
    made = [
        elementwise("a", ("x", 0)),
        Node("sent", "_Send", (("a", 0),), input_types=(float32,)),
        Node("received", "_Recv", output_types=(float32,), output_shapes=((1 << 15,),)),
        elementwise("b", ("a", 0)),
        elementwise("c", ("received", 0)),
    ]
    shapes = {("x", 0): (1 << 15,), ("a", 0): (1 << 15,), ("received", 0): (1 << 15,)}
    items = fuse(made, shapes, "CPU")
    assert items[:3] == made[:3]
    assert [n.name for n in items[3].nodes] == ["b", "c"]


def elementwise(name, *inputs):
    types = (float32,) * len(inputs)
    attrs, shapes = {"T": float32}, ((1 << 15,),)
    return Node(name, "Square", inputs, (), "", attrs, (), types, (float32,), shapes)


def test_an_unused_op_waits_for_no_value_that_is_known():
    """What is left of it, since others wait for it, would wait for a node of another strand."""
    queue = tf.FIFOQueue(4, [tf.float32], [[2]])
    x = queue.dequeue_many(2)
    unused = x * tf.reduce_sum(tf.fill([2, 2], 3.0))
    with tf.control_dependencies([unused]):
        out = tf.identity(x)
    with tf.Session() as session:
        session.run(queue.enqueue_many([[[1.0, 2.0], [3.0, 4.0]]]))
        options = tf.RunOptions(timeout_in_ms=5000)
        assert session.run(out, options=options).tolist() == [[1, 2], [3, 4]]
