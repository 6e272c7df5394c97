"""Queues: order, waiting, closing, sharing, and the errors of TensorFlow 1.15."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import minitf as tf

WAIT = 10.0  # no test gets near it


@pytest.fixture
def session() -> Iterator[Any]:
    with tf.Session() as s:
        yield s


class Waiting:
    """A run in another thread that is expected to wait."""

    def __init__(self, run: Callable[[], Any]) -> None:
        self.value: Any = None
        self.error: Exception | None = None

        def work() -> None:
            try:
                self.value = run()
            except tf.errors.OpError as e:
                self.error = e

        self.thread = threading.Thread(target=work, daemon=True)
        self.thread.start()

    def waits(self) -> bool:
        self.thread.join(0.05)
        return self.thread.is_alive()

    def end(self) -> Any:
        """What the run gave. Raises its error."""
        self.thread.join(WAIT)
        assert not self.thread.is_alive()
        if self.error is not None:
            raise self.error
        return self.value


def scalars(capacity: int, kind: Any = tf.FIFOQueue, **kwargs: Any) -> Any:
    return kind(capacity, tf.float32, shapes=[[]], name="q", **kwargs)


# ---- order


def test_first_in_first_out(session):
    q = tf.FIFOQueue(10, [tf.float32, tf.int32], shapes=[[2], []])
    session.run(q.enqueue([[1.0, 2.0], 3]))
    session.run(q.enqueue_many([[[3.0, 4.0], [5.0, 6.0]], [4, 5]]))
    assert session.run(q.size()) == 3
    first = session.run(q.dequeue())
    np.testing.assert_array_equal(first[0], [1.0, 2.0])
    assert first[1] == 3
    rows, numbers = session.run(q.dequeue_many(2))
    np.testing.assert_array_equal(rows, [[3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_array_equal(numbers, [4, 5])
    assert rows.dtype == np.float32
    assert numbers.dtype == np.int32


def test_elements_of_any_shape_and_strings(session):
    q = tf.FIFOQueue(10, tf.string)
    session.run(q.enqueue("a"))
    session.run(q.enqueue([["b", "c\0"]]))
    session.run(q.enqueue_many([["d"]]))
    assert session.run(q.dequeue()) == b"a"
    assert session.run(q.dequeue()).tolist() == [b"b", b"c\0"]
    assert session.run(q.dequeue()) == b"d"


def test_named_components(session):
    q = tf.FIFOQueue(10, [tf.int32, tf.string], shapes=[[], []], names=["n", "s"])
    session.run(q.enqueue_many({"s": ["x", "y"], "n": [1, 2]}))
    assert session.run(q.dequeue()) == {"n": 1, "s": b"x"}
    assert list(session.run(q.dequeue_many(1))["s"]) == [b"y"]
    with pytest.raises(ValueError, match="must enqueue a dictionary"):
        q.enqueue([1, "x"])
    with pytest.raises(ValueError, match="do not match names"):
        q.enqueue({"n": 1, "other": "x"})


def test_random_shuffle_gives_the_numbers_of_tensorflow(session):
    for seed, many, single in (
        (1, [3, 11, 10, 7, 5], [0, 6, 9, 4]),
        (7, [3, 10, 5, 4, 0], [8, 7, 6, 9]),
    ):
        q = tf.RandomShuffleQueue(20, 0, tf.int32, shapes=[[]], seed=seed)
        session.run(q.enqueue_many([list(range(12))]))
        assert session.run(q.dequeue_many(5)).tolist() == many
        one = q.dequeue()
        assert [session.run(one) for _ in single] == single


def test_random_shuffle_keeps_some_until_it_is_closed(session):
    q = tf.RandomShuffleQueue(10, 3, tf.int32, shapes=[[]], seed=1)
    one = q.dequeue()
    session.run(q.enqueue_many([[1, 2, 3, 4]]))
    taken = [session.run(one)]
    waiting = Waiting(lambda: session.run(one))
    assert waiting.waits()
    session.run(q.close())
    taken += [waiting.end(), *session.run(q.dequeue_up_to(9))]
    assert sorted(taken) == [1, 2, 3, 4]


def test_priority(session):
    q = tf.PriorityQueue(10, tf.string, shapes=[[]])
    session.run(q.enqueue_many([[3, 1, 2], ["c", "a", "b"]]))
    session.run(q.enqueue([0, "first"]))
    numbers, texts = session.run(q.dequeue_many(4))
    assert numbers.tolist() == [0, 1, 2, 3]
    assert numbers.dtype == np.int64
    assert list(texts) == [b"first", b"a", b"b", b"c"]
    assert {type(t) for t in texts} == {bytes}


def test_a_priority_batch_is_sorted_as_a_whole(session):
    q = tf.PriorityQueue(10, tf.string, shapes=[[]])
    x = tf.placeholder(tf.int64, [])
    put = q.enqueue([x, "e"])
    session.run(put, {x: 5})
    waiting = Waiting(lambda: session.run(q.dequeue_many(2)))
    assert waiting.waits()
    session.run(put, {x: 3})
    assert waiting.end()[0].tolist() == [3, 5]


def test_padding(session):
    q = tf.PaddingFIFOQueue(5, [tf.int32, tf.string], shapes=[[None], [None, 2]])
    session.run(q.enqueue([[1, 2], [["a", "b"]]]))
    session.run(q.enqueue([[3], [["c", "d"], ["e", "f"]]]))
    numbers, texts = session.run(q.dequeue_many(2))
    assert numbers.tolist() == [[1, 2], [3, 0]]
    assert texts.tolist() == [[[b"a", b"b"], [b"", b""]], [[b"c", b"d"], [b"e", b"f"]]]


def test_an_element_is_not_changed_later(session):
    """What is in the queue does not follow a variable that it came from."""
    v = tf.Variable([1.0, 2.0])
    q = tf.FIFOQueue(3, tf.float32, shapes=[[2]])
    session.run(v.initializer)
    session.run(q.enqueue(v))
    session.run(v.assign_add([10.0, 10.0]))
    assert session.run(q.dequeue()).tolist() == [1.0, 2.0]


def test_queue_chosen_at_run_time(session):
    queues = [tf.FIFOQueue(3, tf.int32, shapes=[[]]) for _ in range(3)]
    for i, q in enumerate(queues):
        session.run(q.enqueue_many([[10 * i, 10 * i + 1]]))
    which = tf.placeholder(tf.int32, [])
    chosen = tf.QueueBase.from_list(which, queues)
    assert session.run(chosen.dequeue(), {which: 2}) == 20
    assert session.run(chosen.size(), {which: 2}) == 1
    assert session.run(chosen.size(), {which: 0}) == 2
    other = tf.FIFOQueue(3, tf.float32)
    with pytest.raises(TypeError, match="matching component dtypes"):
        tf.QueueBase.from_list(0, [queues[0], other])


# ---- waiting


def test_dequeue_waits_for_an_element(session):
    q = scalars(3)
    x = tf.placeholder(tf.float32, [])
    put = q.enqueue(x)
    waiting = Waiting(lambda: session.run(q.dequeue()))
    assert waiting.waits()
    session.run(put, {x: 7.0})
    assert waiting.end() == 7.0


def test_enqueue_waits_for_room(session):
    q = scalars(1)
    put = q.enqueue(1.0)
    session.run(put)
    waiting = Waiting(lambda: session.run(put))
    assert waiting.waits()
    session.run(q.dequeue())
    waiting.end()
    assert session.run(q.size()) == 1


def test_batches_larger_than_the_queue(session):
    q = scalars(2)
    put = q.enqueue_many([np.arange(9, dtype="f")])
    waiting = Waiting(lambda: session.run(put))
    assert session.run(q.dequeue_many(9)).tolist() == list(range(9))
    waiting.end()


def test_waiters_are_served_in_order(session):
    q = scalars(9)
    x = tf.placeholder(tf.float32, [None])
    put = q.enqueue_many([x])
    first = Waiting(lambda: session.run(q.dequeue_many(3)))
    assert first.waits()
    second = Waiting(lambda: session.run(q.dequeue()))
    assert second.waits()
    session.run(put, {x: [1.0, 2.0]})
    assert second.waits()
    session.run(put, {x: [3.0, 4.0]})
    assert first.end().tolist() == [1.0, 2.0, 3.0]
    assert second.end() == 4.0


def test_a_waiting_op_does_not_hold_up_the_rest_of_its_step(session):
    q = scalars(3)
    v = tf.Variable(1.0)
    session.run(v.initializer)
    waiting = Waiting(lambda: session.run([q.dequeue(), v.assign(5.0)]))
    assert waiting.waits()
    assert session.run(v) == 5.0
    session.run(q.enqueue(2.0))
    assert waiting.end() == [2.0, 5.0]


def test_timeout_gives_back_what_was_taken(session):
    q = scalars(9)
    session.run(q.enqueue_many([[1.0, 2.0]]))
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(q.dequeue_many(3), options=tf.RunOptions(timeout_in_ms=100))
    assert session.run(q.dequeue_many(2)).tolist() == [1.0, 2.0]


def test_closing_the_session_ends_a_wait():
    session = tf.Session()
    waiting = Waiting(lambda: session.run(tf.FIFOQueue(1, tf.int32).dequeue()))
    assert waiting.waits()
    session.close()
    with pytest.raises(tf.errors.CancelledError):
        waiting.end()


# ---- closing


def insufficient(requested: int, size: int, kind: str = "FIFOQueue") -> str:
    return (
        rf"{kind} '_\d+_q' is closed and has insufficient elements "
        rf"\(requested {requested}, current size {size}\)"
    )


def test_closed_queue_gives_what_it_has(session):
    q = scalars(5)
    session.run(q.enqueue_many([[1.0, 2.0, 3.0]]))
    assert not session.run(q.is_closed())
    session.run(q.close())
    assert session.run(q.is_closed())
    with pytest.raises(tf.errors.CancelledError, match=r"FIFOQueue '_\d+_q' is closed."):
        session.run(q.enqueue(1.0))
    with pytest.raises(tf.errors.OutOfRangeError, match=insufficient(4, 3)):
        session.run(q.dequeue_many(4))
    assert session.run(q.dequeue()) == 1.0
    assert session.run(q.dequeue_up_to(5)).tolist() == [2.0, 3.0]
    with pytest.raises(tf.errors.OutOfRangeError, match=insufficient(1, 0)):
        session.run(q.dequeue())
    with pytest.raises(tf.errors.OutOfRangeError, match=insufficient(5, 0)):
        session.run(q.dequeue_up_to(5))
    assert session.run(q.dequeue_many(0)).tolist() == []


@pytest.mark.parametrize("kind", ["RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue"])
def test_every_kind_says_its_name(session, kind):
    more = {"min_after_dequeue": 1} if kind == "RandomShuffleQueue" else {}
    q = getattr(tf, kind)(5, **more, **{
        "types" if kind == "PriorityQueue" else "dtypes": tf.float32, "shapes": [()], "name": "q"
    })  # fmt: skip
    session.run(q.close())
    with pytest.raises(tf.errors.OutOfRangeError, match=insufficient(1, 0, kind)):
        session.run(q.dequeue())


def test_closing_twice(session):
    q = scalars(5)
    session.run(q.close())
    with pytest.raises(tf.errors.CancelledError, match=r"Queue '_\d+_q' is already closed."):
        session.run(q.close())
    session.run(q.close(cancel_pending_enqueues=True))


def test_closing_ends_a_waiting_dequeue(session):
    q = scalars(5)
    waiting = Waiting(lambda: session.run(q.dequeue()))
    assert waiting.waits()
    session.run(q.close())
    with pytest.raises(tf.errors.OutOfRangeError, match=insufficient(1, 0)):
        waiting.end()


def test_closing_gives_back_what_a_batch_has_taken(session):
    q = scalars(5)
    session.run(q.enqueue_many([[1.0, 2.0]]))
    waiting = Waiting(lambda: session.run(q.dequeue_many(3)))
    assert waiting.waits()
    assert session.run(q.size()) == 0
    session.run(q.close())
    with pytest.raises(tf.errors.OutOfRangeError, match=insufficient(1, 0)):
        waiting.end()
    assert session.run(q.size()) == 2


def test_close_waits_for_pending_enqueues(session):
    q = scalars(1)
    put = q.enqueue_many([[1.0, 2.0]])
    enqueue = Waiting(lambda: session.run(put))
    assert enqueue.waits()
    close = Waiting(lambda: session.run(q.close()))
    assert close.waits()
    assert not session.run(q.is_closed())
    assert session.run(q.dequeue()) == 1.0
    enqueue.end()
    close.end()
    assert session.run(q.is_closed())
    assert session.run(q.dequeue()) == 2.0


def test_close_cancels_pending_enqueues(session):
    q = scalars(1)
    put = q.enqueue(1.0)
    session.run(put)
    waiting = Waiting(lambda: session.run(put))
    assert waiting.waits()
    session.run(q.close(cancel_pending_enqueues=True))
    with pytest.raises(tf.errors.CancelledError, match="Enqueue operation was cancelled"):
        waiting.end()


# ---- bad input


def test_wrong_shapes(session):
    q = tf.FIFOQueue(3, [tf.float32, tf.int32], shapes=[[2], []])
    x, n = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    one, many = q.enqueue([x, n]), q.enqueue_many([x, n])
    for op, feeds, text in (
        (one, {x: [1.0], n: 3}, r"component 0. Expected \[2\], got \[1\]"),
        (many, {x: [[1.0]], n: [3]}, r"component 0. Expected \[1,2\], got \[1,1\]"),
        (many, {x: [[1.0, 2.0]], n: [3, 4]}, r"component 1. Expected \[1\], got \[2\]"),
        (many, {x: [[1.0, 2.0]], n: 3}, r"component 1. Expected \[1\], got \[\]"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            session.run(op, feeds)
    with pytest.raises(ValueError, match=r"Shapes \(1,\) and \(2,\) are incompatible"):
        q.enqueue([[1.0], 3])
    session.run(many, {x: np.zeros((0, 2)), n: []})
    assert session.run(q.size()) == 0


def test_wrong_components(session):
    q = tf.FIFOQueue(3, [tf.float32, tf.int32], shapes=[[], []])
    text = "have: resource, float-> expected: resource, float, int32->"
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        session.run(q.enqueue([1.0]))
    wrong = tf.raw_ops.QueueDequeueV2(handle=q.queue_ref, component_types=[tf.int32])
    text = "have: resource->int32 expected: resource->float, int32"
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        session.run(wrong)


def test_batches_need_shapes(session):
    q = tf.FIFOQueue(3, tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="to have specified shapes"):
        session.run(q.dequeue_many(1))


def test_negative_count(session):
    q = scalars(3)
    with pytest.raises(ValueError, match="Input 'n' must be >= 0, but is -1"):
        q.dequeue_many(-1)
    n = tf.placeholder(tf.int32, [])
    text = "DequeueManyOp requested -2 < 0 elements"
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        session.run(q.dequeue_many(n), {n: -2})


def test_not_a_queue(session):
    accumulator = tf.ConditionalAccumulator(tf.float32)
    size = tf.raw_ops.QueueSizeV2(handle=accumulator.accumulator_ref)
    with pytest.raises(tf.errors.InvalidArgumentError, match="resource using the wrong type"):
        session.run(size)


def test_min_after_dequeue_is_checked(session):
    for keep, text in ((3, "min_after_dequeue 3 must be < capacity 2"), (-1, "-1 must be >= 0")):
        q = tf.RandomShuffleQueue(2, keep, tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            session.run(q.size())


# ---- sharing


def test_one_name_is_one_queue(session):
    a, b = (scalars(3, shared_name="both") for _ in range(2))
    session.run(a.enqueue(4.0))
    assert session.run(b.dequeue()) == 4.0


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: scalars(4, shared_name="s"), "has capacity 3 but requested capacity was 4"),
        (
            lambda: tf.FIFOQueue(3, tf.int32, shapes=[[]], shared_name="s"),
            "has component types float but requested component types were int32",
        ),
        (
            lambda: tf.FIFOQueue(3, tf.float32, shared_name="s"),
            r"has component shapes \[\[\]\] but requested component shapes were \[\]",
        ),
        (
            lambda: tf.RandomShuffleQueue(3, 1, tf.float32, shapes=[[]], shared_name="s"),
            "Expected FIFOQueue, found RandomShuffleQueueV2",
        ),
    ],
)
def test_one_name_for_unlike_queues(session, make, text):
    session.run(scalars(3, shared_name="s").size())
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        session.run(make().size())


def test_seeds_of_shared_shuffles_agree():
    tf.set_random_seed(3)
    a, b = (tf.RandomShuffleQueue(3, 1, tf.int32, shared_name="s") for _ in range(2))
    c = tf.RandomShuffleQueue(3, 1, tf.int32)
    seeds = [(q.queue_ref.op.get_attr("seed"), q.queue_ref.op.get_attr("seed2")) for q in (a, b, c)]
    assert seeds[0] == seeds[1] != seeds[2]


# ---- arguments of constructors


def test_arguments():
    with pytest.raises(ValueError, match="All shapes must be fully defined"):
        tf.FIFOQueue(3, tf.int32, shapes=[[None]])
    with pytest.raises(ValueError, match="a list of shapes must be provided"):
        tf.PaddingFIFOQueue(3, tf.int32, shapes=[None, 2])
    with pytest.raises(ValueError, match="received 1 dtypes and 2 shapes"):
        tf.PaddingFIFOQueue(3, tf.int32, shapes=[[], []])
    with pytest.raises(ValueError, match="same length as the list of dtypes"):
        tf.FIFOQueue(3, tf.int32, names=["a", "b"])
    with pytest.raises(ValueError, match="Queue shapes must have the same length as dtypes"):
        tf.FIFOQueue(3, [tf.int32, tf.int32], shapes=[[]])
