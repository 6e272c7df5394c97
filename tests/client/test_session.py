"""Session.run in one process: every form of fetch and feed, and what goes wrong."""

import collections

import numpy as np
import pytest

import minitf as tf


@pytest.fixture
def xy():
    x = tf.placeholder(tf.float32, [2], name="x")
    return x, tf.add(x, 1.0, name="y")


Pair = collections.namedtuple("Pair", "a b")


def test_fetches_of_every_form(xy):
    x, y = xy
    done = tf.group(y, name="done")
    with tf.Session() as sess:
        got = sess.run(
            {"one": y, "list": [y, "y:0", done], "pair": Pair(x, (y,)), "none": []}, {x: [1, 2]}
        )
    assert got["one"].tolist() == [2, 3]
    assert [v if v is None else v.tolist() for v in got["list"]] == [[2, 3], [2, 3], None]
    assert got["pair"].a.tolist() == [1, 2] and got["pair"].b[0].tolist() == [2, 3]
    assert got["none"] == []


def test_feeds_by_tensor_name_and_any_inner_tensor(xy):
    x, y = xy
    z = tf.multiply(y, 2.0)
    with tf.Session() as sess:
        assert sess.run(z, {"x:0": [1, 2]}).tolist() == [4, 6]
        assert sess.run(z, {y: [5, 5]}).tolist() == [10, 10]


def test_scalars_are_numpy_scalars_and_strings_bytes():
    with tf.Session() as sess:
        number, text = sess.run([tf.constant(1.5), tf.constant("a")])
    assert isinstance(number, np.float32) and text == b"a"


def test_what_was_fetched_is_the_users_own():
    v = tf.get_variable("v", [3], initializer=tf.ones_initializer())
    with tf.Session() as sess:
        sess.run(v.initializer)
        got = sess.run(v)
        got[:] = 7
        assert sess.run(v).tolist() == [1, 1, 1]


def test_a_fed_array_is_not_kept():
    x = tf.placeholder(tf.float32, [2])
    v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    fed = np.array([1, 2], "f")
    with tf.Session() as sess:
        sess.run(tf.assign(v, x), {x: fed})
        fed[:] = 0
        assert sess.run(v).tolist() == [1, 2]


def test_make_callable_and_interactive_session(xy):
    x, y = xy
    session = tf.InteractiveSession()
    assert session.make_callable(y, [x])([3, 4]).tolist() == [4, 5]
    assert y.eval({x: [0, 0]}).tolist() == [1, 1]
    session.close()
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        session.run(y)


def test_the_graph_may_grow_between_runs():
    a = tf.constant(1.0)
    with tf.Session() as sess:
        assert sess.run(a) == 1
        assert sess.run(a + 1.0) == 2


WRONG_FETCHES = [
    ("nope:0", ValueError, "The name 'nope:0' refers to a Tensor which does not exist"),
    ("y:3", ValueError, "but only has 1 outputs"),
    (3, TypeError, "Fetch argument 3 has invalid type"),
    (None, TypeError, "has invalid type"),
]


@pytest.mark.parametrize("fetch, kind, text", WRONG_FETCHES, ids=["name", "output", "type", "None"])
def test_wrong_fetches(xy, fetch, kind, text):
    with tf.Session() as sess, pytest.raises(kind, match=text):
        sess.run(fetch, {xy[0]: [1, 2]})


def test_a_tensor_of_another_graph(xy):
    x, y = xy
    with tf.Graph().as_default():
        alien = tf.constant(1.0)
    with tf.Session() as sess:
        with pytest.raises(ValueError, match="is not an element of this graph"):
            sess.run(alien)
        with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
            sess.run(y, {alien: 1.0})


def test_wrong_feeds(xy):
    x, y = xy
    with tf.Session() as sess:
        with pytest.raises(ValueError, match=r"Cannot feed value of shape \(3,\).*'x:0'.*'\(2,\)'"):
            sess.run(y, {x: [1, 2, 3]})
        with pytest.raises(ValueError, match="could not convert string to float"):
            sess.run(y, {x: ["a", "b"]})
        with pytest.raises(TypeError, match="cannot be a tf.Tensor object"):
            sess.run(y, {x: y})
        with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
            sess.run(y, {y.op: [1, 2]})


def test_a_missing_feed_names_the_placeholder_and_the_line(xy):
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as e:
        sess.run(xy[1])
    text = str(e.value)
    assert "You must feed a value for placeholder tensor 'x' with dtype float and shape [2]" in text
    assert "test_session.py" in text
    assert e.value.op is xy[0].op


def test_uninitialized_and_no_gradients():
    v = tf.get_variable("weights", [2])
    with (
        tf.Session() as sess,
        pytest.raises(
            tf.errors.FailedPreconditionError,
            match="Attempting to use uninitialized value weights",
        ),
    ):
        sess.run(v)
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))


def test_nan_check_and_a_python_error_leave_the_session_usable():
    x = tf.placeholder(tf.float32, [])
    checked = tf.check_numerics(tf.log(x), "no number", name="checked")
    failing = tf.py_func(lambda: 1 // 0, [], tf.int64)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="no number : Tensor had NaN"):
            sess.run(checked, {x: -1.0})
        with pytest.raises(tf.errors.UnknownError, match="ZeroDivisionError"):
            sess.run(failing)
        assert sess.run(checked, {x: 1.0}) == 0


@pytest.mark.parametrize(
    "device, words",
    [
        ("/job:nope", "was explicitly assigned to /job:nope but available devices are"),
        ("/task:7", "was explicitly assigned to /task:7"),
        ("/device:GPU:0", "The requested device appears to be a GPU"),
    ],
)
def test_no_such_device(device, words):
    with tf.device(device):
        a = tf.add(1.0, 2.0, name="a")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as e:
        sess.run(a)
    assert words in str(e.value) and "test_session.py" in str(e.value)


def test_malformed_device():
    with pytest.raises(ValueError, match="Unknown attribute: 'jobs'"), tf.device("/jobs:ps"):
        raise AssertionError("not reached")


def test_an_empty_graph_and_an_unknown_scheme():
    with pytest.raises(RuntimeError, match="The Session graph is empty"):
        tf.Session(graph=tf.Graph()).run([])
    with pytest.raises(tf.errors.NotFoundError, match="No session factory registered"):
        tf.Session("carrier-pigeon://nest")


def test_shapes_that_do_not_fit_at_run_time():
    x, y = tf.placeholder(tf.float32, name="x"), tf.placeholder(tf.float32, name="y")
    z = tf.add(x, y, name="z")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError) as e:
        sess.run(z, {x: [1, 2], y: [1, 2, 3]})
    assert "Incompatible shapes: [2] vs. [3]" in str(e.value)
    assert "'z' ran on /job:localhost/replica:0/task:0/device:CPU:0" in str(e.value)
