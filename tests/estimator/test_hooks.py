"""Hooks of tf.estimator.experimental: early stopping, and evaluation within a training."""

from __future__ import annotations

import json

import pytest

import minitf as tf
from estimator.models import batches, estimator

experimental = tf.estimator.experimental


def written(path, **metrics):
    """An event file with the values of metrics by step, as evaluations write it."""
    with tf.summary.FileWriter(str(path / "eval")) as writer:
        for name, values in metrics.items():
            for step, value in values.items():
                summary = tf.Summary(value=[tf.Summary.Value(tag=name, simple_value=value)])
                writer.add_summary(summary, step)


def steps_with(model, hook, most=20):
    model.train(batches(), steps=most, hooks=[hook])
    return int(model.get_variable_value("global_step"))


EVERY = dict(run_every_secs=None, run_every_steps=1)


@pytest.mark.parametrize(
    "make, limit, stops",
    [
        (experimental.stop_if_higher_hook, 0.5, True),
        (experimental.stop_if_higher_hook, 0.95, False),
        (experimental.stop_if_lower_hook, 0.3, True),
        (experimental.stop_if_lower_hook, 0.1, False),
        (experimental.stop_if_no_increase_hook, 20, True),
        (experimental.stop_if_no_increase_hook, 21, False),
        (experimental.stop_if_no_decrease_hook, 30, True),
        (experimental.stop_if_no_decrease_hook, 31, False),
    ],
)
def test_metrics_end_a_training(tmp_path, make, limit, stops):
    written(tmp_path, score={0: 0.2, 10: 0.9, 20: 0.4, 30: 0.8})
    model = estimator(tmp_path)
    hook = make(model, "score", limit, **EVERY)
    assert (steps_with(model, hook) < 20) == stops


def test_steps_before_the_first_that_counts(tmp_path):
    written(tmp_path, score={0: 0.9, 10: 0.1})
    model = estimator(tmp_path)
    hook = experimental.stop_if_higher_hook(model, "score", 0.5, min_steps=5, **EVERY)
    assert steps_with(model, hook) == 20


def test_workers_stop_with_the_chief(tmp_path, monkeypatch):
    model = estimator(tmp_path)
    hook = experimental.make_early_stopping_hook(model, lambda: True, **EVERY)
    assert steps_with(model, hook) == 1
    told = {
        "cluster": {"chief": ["a:1"], "worker": ["b:1"]},
        "task": {"type": "worker", "index": 0},
    }
    monkeypatch.setenv("TF_CONFIG", json.dumps(told))
    follower = experimental.make_early_stopping_hook(estimator(tmp_path), lambda: True)
    with tf.Graph().as_default():
        tf.train.create_global_step()
        with tf.train.MonitoredSession(hooks=[follower]) as session:
            stop = session.graph.get_tensor_by_name("signal_early_stopping/STOP:0")
            session.run(stop)
            assert not session.should_stop()
            session.run(stop, {stop: True})
            assert session.should_stop()


def test_what_is_refused(tmp_path):
    model = estimator(tmp_path)
    with pytest.raises(TypeError, match="`estimator` must have type"):
        experimental.make_early_stopping_hook(1, lambda: True)
    with pytest.raises(ValueError, match="Only one of `run_every_secs` and `run_every_steps`"):
        experimental.make_early_stopping_hook(model, lambda: True, 1, 1)
    with pytest.raises(TypeError, match="`should_stop_fn` must be callable"):
        experimental.make_early_stopping_hook(model, True)
    with pytest.raises(ValueError, match="invalid every_n_iter=0"):
        experimental.InMemoryEvaluatorHook(model, batches(), every_n_iter=0)


def test_evaluates_the_variables_of_the_training(tmp_path):
    model = estimator(tmp_path)
    hook = experimental.InMemoryEvaluatorHook(model, batches(), steps=2, name="now", every_n_iter=2)
    model.train(batches(), steps=4, hooks=[hook])
    tf.summary.FileWriterCache.clear()
    (file,) = (tmp_path / "eval_now").iterdir()
    found = {
        event.step: value.simple_value
        for event in tf.train.summary_iterator(str(file))
        for value in event.summary.value
        if value.tag == "loss"
    }
    assert list(found) == [0, 2, 4]
    assert found[0] == 157.5  # the mean of (3 x)^2
    assert found[4] == pytest.approx(model.evaluate(batches(1))["loss"])


def test_a_worker_goes_on_until_the_last_step_is_saved(tmp_path, monkeypatch):
    model = estimator(tmp_path)
    hook = experimental.make_stop_at_checkpoint_step_hook(model, 3)
    assert isinstance(hook, tf.train.StopAtStepHook)
    told = {
        "cluster": {"chief": ["a:1"], "worker": ["b:1"]},
        "task": {"type": "worker", "index": 0},
    }
    monkeypatch.setenv("TF_CONFIG", json.dumps(told))
    follower = experimental.make_stop_at_checkpoint_step_hook(estimator(tmp_path), 3, 0)
    monkeypatch.delenv("TF_CONFIG")
    with tf.Graph().as_default():
        step = tf.train.create_global_step()
        train = tf.assign_add(step, 1)
        with tf.train.MonitoredSession(hooks=[follower]) as session:
            for _ in range(5):
                session.run(train)
            assert not session.should_stop()
            model.train(batches(), steps=3)
            session.run(train)
            assert session.should_stop()
