"""What follows an op that waits for other steps, on a GPU: it sees variables as they are then."""

import threading

import pytest

import minitf as tf
from minitf_runtime.plan import rendezvous


def tokens_behind_a_queue(dtype):
    """A queue's fill, a counter, and what a Fill on the GPU takes of it once there was a token."""
    queue = tf.FIFOQueue(10, [tf.float32])
    fill = queue.enqueue_many([[1.0] * 4])
    step = tf.Variable(tf.zeros([], dtype), name="step")
    with tf.control_dependencies([queue.dequeue()]):
        add = tf.assign_add(step, tf.ones([], dtype))
    with tf.control_dependencies([add]):
        return fill, step, tf.fill([2], step)


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_an_op_that_waited_sees_the_variable_as_it_is_then(dtype, fake):
    """An int32 is on the CPU, and the Fill takes it from host memory; an int64 is on the GPU."""
    fake()
    fill, step, tokens = tokens_behind_a_queue(dtype)
    with tf.Session() as session:
        session.run(step.initializer)
        threading.Timer(0.05, session.run, [fill]).start()
        assert [session.run(tokens).tolist() for _ in range(4)] == [[i, i] for i in (1, 2, 3, 4)]
        metadata = tf.RunMetadata()
        session.run(fill)
        options = tf.RunOptions(output_partition_graphs=True)
        session.run(tokens, options=options, run_metadata=metadata)
        devices = {n.name: n.device for g in metadata.partition_graphs for n in g.node}
        assert devices["Fill"].endswith("GPU:0")
        assert devices["AssignAdd"].endswith("CPU:0" if dtype is tf.int32 else "GPU:0")


def test_a_variable_that_is_not_there_ends_the_step():
    fill, _, tokens = tokens_behind_a_queue(tf.int32)
    with tf.Session() as session:
        session.run(fill)
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value step"):
            session.run(tokens)


def test_other_reads_cross_as_values(monkeypatch):
    """A variable goes over only where an op of another strand takes it."""
    sent = []
    send = rendezvous.Rendezvous.send
    note = lambda rdv, key, value: (sent.append(value), send(rdv, key, value))  # noqa: E731
    monkeypatch.setattr(rendezvous.Rendezvous, "send", note)
    step = tf.Variable(3, name="step")
    tokens = tf.fill([2], step)
    with tf.Session() as session:
        session.run(step.initializer)
        sent.clear()
        assert session.run(tokens).tolist() == [3, 3]
    assert sent
    assert not any(hasattr(value, "assign") for value in sent)
