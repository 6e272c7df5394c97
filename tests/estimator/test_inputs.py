"""Input functions of arrays and data frames: the batches, their order, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import minitf as tf

X = np.arange(10, dtype=np.float32)


def run(input_fn, most=100):
    """The batches that an input_fn gives, until its end."""
    with tf.Graph().as_default():
        fetches, made = input_fn(), []
        with tf.train.MonitoredSession() as session:
            while not session.should_stop() and len(made) < most:
                made.append(session.run(fetches))
    return made


def array(x, y=None, **options):
    return tf.estimator.inputs.numpy_input_fn(x, y, **{"shuffle": False, **options})


def test_batches_come_in_order_over_the_ends_of_epochs():
    made = run(array(X, batch_size=4, num_epochs=2))
    assert [list(b) for b in made] == [
        [0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1], [2, 3, 4, 5], [6, 7, 8, 9]
    ]  # fmt: skip
    assert [len(b) for b in run(array(X, batch_size=4))] == [4, 4, 2]
    assert list(np.concatenate(run(array(X, batch_size=3, num_epochs=None), most=5))) == [
        *X, *X[:5]
    ]  # fmt: skip


def test_forms_of_features_and_labels():
    pair = np.stack([X, -X], 1)
    assert run(array({"b": pair, "a": X}, batch_size=10))[0]["b"].tolist() == pair.tolist()
    ((features, labels),) = run(array({"x": X}, 2 * X, batch_size=10))
    assert labels.tolist() == (2 * features["x"]).tolist()
    ((features, labels),) = run(array(X, {"q": X, "p": -X}, batch_size=10))
    assert labels["p"].tolist() == (-features).tolist()
    words = np.array([b"a", b"b"], object)
    assert run(array(words))[0].tolist() == [b"a", b"b"]


def test_shuffling_loses_nothing_and_keeps_pairs():
    ((features, labels),) = run(array({"x": X}, 2 * X, batch_size=20, num_epochs=2, shuffle=True))
    assert sorted(features["x"]) == sorted([*X, *X])
    assert list(labels) == list(2 * features["x"])


def test_what_is_refused():
    numpy_input_fn = tf.estimator.inputs.numpy_input_fn
    with pytest.raises(ValueError, match="shuffle must be provided and explicitly set as boolean"):
        numpy_input_fn(X)
    for error, text, x, y in (
        (TypeError, "x must be a dict or array; got list", [1], None),
        (ValueError, "x cannot be an empty dict", {}, None),
        (ValueError, "x cannot be an empty array", X[:0], None),
        (ValueError, "y cannot be empty dict", X, {}),
        (ValueError, "1 duplicate keys are found in both x and y", {"a": X}, {"a": X}),
        (ValueError, r"Shapes in x: {'a': \(10,\)}\nShapes in y: \(3,\)", {"a": X}, X[:3]),
    ):
        with pytest.raises(error, match=text):
            numpy_input_fn(x, y, shuffle=False)()
    with pytest.raises(TypeError, match="x must be a pandas DataFrame; got dict"):
        tf.estimator.inputs.pandas_input_fn({}, shuffle=False)


def test_the_graph_is_tensorflows():
    """Recorded from TensorFlow 1.15.5."""
    array({"x": X}, X, shuffle=True, batch_size=2)()
    ops = [(op.name, op.type) for op in tf.get_default_graph().get_operations()]
    assert [(name.removeprefix("enqueue_input/"), kind) for name, kind in ops] == GRAPH


GRAPH = [
    ("random_shuffle_queue", "RandomShuffleQueueV2"),
    ("Placeholder", "Placeholder"),
    ("Placeholder_1", "Placeholder"),
    ("Placeholder_2", "Placeholder"),
    ("random_shuffle_queue_EnqueueMany", "QueueEnqueueManyV2"),
    ("random_shuffle_queue_Close", "QueueCloseV2"),
    ("random_shuffle_queue_Close_1", "QueueCloseV2"),
    ("random_shuffle_queue_Size", "QueueSizeV2"),
    ("sub/y", "Const"),
    ("sub", "Sub"),
    ("Maximum/x", "Const"),
    ("Maximum", "Maximum"),
    ("Cast", "Cast"),
    ("mul/y", "Const"),
    ("mul", "Mul"),
    ("queue/enqueue_input/random_shuffle_queuefraction_over_250_of_750_full/tags", "Const"),
    ("queue/enqueue_input/random_shuffle_queuefraction_over_250_of_750_full", "ScalarSummary"),
    ("random_shuffle_queue_DequeueUpTo/n", "Const"),
    ("random_shuffle_queue_DequeueUpTo", "QueueDequeueUpToV2"),
]


def test_data_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": X, "b": np.arange(10)}, index=np.arange(10) + 5)
    labels = pd.Series(2 * X, index=frame.index)
    frames = tf.estimator.inputs.pandas_input_fn
    ((features, target),) = run(frames(frame, labels, batch_size=10, shuffle=False))
    assert sorted(features) == ["a", "b"]
    assert target.tolist() == (2 * features["a"]).tolist()
    ((_, target),) = run(frames(frame, frame, batch_size=10, shuffle=True))
    assert target["a"].tolist() == target["b"].tolist()
    assert [len(b["b"]) for b in run(frames(frame, batch_size=4, shuffle=False))] == [4, 4, 2]
    words = pd.DataFrame({"w": ["a", "b"]})
    assert run(frames(words, shuffle=False))[0]["w"].tolist() == [b"a", b"b"]
    with pytest.raises(ValueError, match="Index for x and y are mismatched"):
        frames(frame, pd.Series(X), shuffle=False)
    with pytest.raises(ValueError, match="Cannot use name a for target column"):
        frames(frame, labels, shuffle=False, target_column="a")
