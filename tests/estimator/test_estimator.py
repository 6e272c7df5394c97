"""An Estimator in one process: what it computes, writes, logs and refuses."""

from __future__ import annotations

import logging
import os

import numpy as np
import pytest

import minitf as tf
from estimator.models import X, batches, estimator, scaled, serving


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.INFO, "minitf")
    return lambda: caplog.messages


def test_values_are_those_of_tensorflow(tmp_path):
    """Recorded from TensorFlow 1.15.5, with the same model and input."""
    model = estimator(tmp_path)
    assert model.train(batches(), steps=5) is model
    metrics = model.evaluate(batches(1))
    assert metrics["loss"] == pytest.approx(1.9097912)
    assert metrics["mae"] == pytest.approx(1.1562239)
    assert metrics["global_step"] == 5
    assert model.evaluate(batches(), steps=2, name="b") == metrics
    assert model.get_variable_names() == ["global_step", "w"]
    assert model.get_variable_value("w") == pytest.approx(2.6696503)
    assert [p["y"] for p in model.predict(batches(1))] == pytest.approx(2.6696503 * X)
    model.train(batches(), max_steps=9)
    assert model.evaluate(batches(1))["loss"] == pytest.approx(0.026774576)


def test_says_what_tensorflow_says(tmp_path, lines):
    model = estimator(tmp_path, log_step_count_steps=2)
    model.train(batches(), steps=5)
    model.evaluate(batches(), steps=2)
    shown = [line for line in lines() if "/sec" not in line and not line.startswith("Using config")]
    assert shown[5:7] == [
        "Done running local_init_op.",
        f"Saving checkpoints for 0 into {tmp_path}/model.ckpt.",
    ]
    assert shown[:5] == [
        "Calling model_fn.",
        "Done calling model_fn.",
        "Create CheckpointSaverHook.",
        "Graph was finalized.",
        "Running local_init_op.",
    ]
    assert shown[7] == "loss = 31.5, step = 0"
    assert [line.partition(" (")[0] for line in shown[8:10]] == [
        "loss = 3.7297516, step = 2",
        "loss = 0.44162095, step = 4",
    ]
    assert shown[10:12] == [
        f"Saving checkpoints for 5 into {tmp_path}/model.ckpt.",
        "Loss for final step: 0.44162095.",
    ]
    assert shown[14].startswith("Starting evaluation at ")
    assert shown[19:21] == ["Evaluation [1/2]", "Evaluation [2/2]"]
    assert shown[21].startswith("Finished evaluation at ")
    assert shown[22:] == [
        "Saving dict for global step 5: global_step = 5, loss = 1.9097912, mae = 1.1562239",
        f"Saving 'checkpoint_path' summary for global step 5: {tmp_path}/model.ckpt-5",
    ]


def test_what_an_evaluation_writes_can_be_read(tmp_path):
    model = estimator(tmp_path)
    model.train(batches(), steps=1)
    metrics = model.evaluate(batches(1), name="test")
    tf.summary.FileWriterCache.clear()
    (file,) = (tmp_path / "eval_test").iterdir()
    events = [e for e in tf.train.summary_iterator(str(file)) if e.summary.value]
    written = {v.tag: v for e in events for v in e.summary.value}
    assert sorted(written) == ["checkpoint_path", "loss", "mae"]
    assert {e.step for e in events} == {1}
    assert written["mae"].simple_value == metrics["mae"]
    path = tf.make_ndarray(written["checkpoint_path"].tensor)
    assert path.item() == f"{tmp_path}/model.ckpt-1".encode()


def test_trains_to_the_end_of_the_input_and_goes_on_from_there(tmp_path, lines):
    model = estimator(tmp_path)
    model.train(batches(num_epochs=3))
    assert model.get_variable_value("global_step") == 6
    model.train(batches(), max_steps=6)
    assert lines()[-1] == "Skipping training since max_steps has already saved."
    model.train(batches(), steps=2)
    assert model.get_variable_value("global_step") == 8
    assert estimator(tmp_path).evaluate(batches(1))["global_step"] == 8


def test_an_empty_input_makes_no_steps(tmp_path, lines):
    def nothing():
        queue = tf.train.input_producer(tf.zeros([0]), num_epochs=1, shuffle=False)
        x = queue.dequeue()
        return {"x": x}, x

    estimator(tmp_path).train(nothing)
    assert (
        "Training with estimator made no steps. Perhaps input is empty or misspecified." in lines()
    )


def test_hooks_and_listeners_are_called(tmp_path):
    seen = []

    class Listener(tf.estimator.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            seen.append(int(global_step_value))

    class Hook(tf.estimator.SessionRunHook):
        def after_run(self, run_context, run_values):
            seen.append("run")

    model = estimator(tmp_path, save_checkpoints_steps=2)
    model.train(batches(), steps=3, hooks=[Hook()], saving_listeners=[Listener()])
    assert seen == [0, "run", 2, "run", "run", 3] or seen == [0, "run", "run", 2, "run", 3]
    with pytest.raises(TypeError, match="Hooks must be a SessionRunHook, given: 1"):
        model.train(batches(), steps=1, hooks=[1])
    with pytest.raises(TypeError, match="must be a list of CheckpointSaverListener, given: 2"):
        model.train(batches(), steps=1, saving_listeners=[2])
    silent = estimator(tmp_path, save_checkpoints_steps=None, save_checkpoints_secs=None)
    with pytest.raises(ValueError, match="There should be a CheckpointSaverHook"):
        silent.train(batches(), steps=1, saving_listeners=[Listener()])


def test_a_loss_that_is_no_number_stops_the_training(tmp_path):
    with pytest.raises(tf.estimator.NanLossDuringTrainingError):
        estimator(tmp_path, rate=1e30).train(batches(), steps=50)


def test_keeps_as_many_checkpoints_as_told(tmp_path):
    model = estimator(tmp_path, save_checkpoints_steps=1, keep_checkpoint_max=2)
    model.train(batches(), steps=4)
    found = sorted(p.name for p in tmp_path.glob("*.index"))
    assert found == ["model.ckpt-3.index", "model.ckpt-4.index"]


# ---- evaluation and prediction


def test_evaluates_and_predicts_with_initial_values(tmp_path, lines):
    model = estimator(tmp_path)
    assert model.evaluate(batches(1))["loss"] == np.mean((3 * X) ** 2)
    assert f"Could not find trained model in model_dir: {tmp_path}, running initialization to " \
        "evaluate." in lines()  # fmt: skip
    assert [p["y"] for p in model.predict(batches(1))] == [0] * 8
    for ask in (model.get_variable_names, lambda: model.get_variable_value("w")):
        with pytest.raises(ValueError, match="Could not find trained model in model_dir"):
            ask()


def test_an_older_checkpoint(tmp_path):
    model = estimator(tmp_path, save_checkpoints_steps=1)
    model.train(batches(), steps=2)
    older = model.evaluate(batches(1), checkpoint_path=f"{tmp_path}/model.ckpt-1")
    assert older["global_step"] == 1
    assert older["loss"] > model.evaluate(batches(1))["loss"]


def test_predictions_by_key_and_by_batch(tmp_path):
    def both(features, mode):
        x = features["x"]
        return tf.estimator.EstimatorSpec(mode, predictions={"double": 2 * x, "x": x})

    model = tf.estimator.Estimator(both, str(tmp_path))
    inputs = tf.estimator.inputs.numpy_input_fn({"x": X}, batch_size=3, shuffle=False)
    assert next(model.predict(inputs)) == {"double": 0, "x": 0}
    assert [p["double"] for p in model.predict(inputs, ["double"])] == list(2 * X)
    sizes = [len(b["x"]) for b in model.predict(inputs, yield_single_examples=False)]
    assert sizes == [3, 3, 2]
    with pytest.raises(ValueError, match=r"at least one output from \['double', 'x'\], provided"):
        next(model.predict(inputs, ["other"]))


def test_the_callers_graph_stays_the_default_between_predictions(tmp_path):
    graph = tf.get_default_graph()
    for _ in estimator(tmp_path).predict(batches(1)):
        assert tf.get_default_graph() is graph


def test_uneven_predictions(tmp_path):
    def uneven(features, mode):
        x = features["x"]
        return tf.estimator.EstimatorSpec(mode, predictions={"a": x, "b": x[:1]})

    model = tf.estimator.Estimator(uneven, str(tmp_path))
    with pytest.raises(ValueError, match="b has different batch length than others"):
        list(model.predict(tf.estimator.inputs.numpy_input_fn({"x": X}, shuffle=False)))


def test_metrics_of_taken_names(tmp_path):
    def model_fn(features, labels, mode, params):
        loss = tf.reduce_mean(features["x"])
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, eval_metric_ops={params: tf.metrics.mean(loss)}
        )

    for name in ("loss", "global_step"):
        model = tf.estimator.Estimator(model_fn, str(tmp_path), params=name)
        with pytest.raises(ValueError, match=f"Metric with name .{name}. is not allowed"):
            model.evaluate(batches(1))


# ---- what is refused, and where things are put


def test_arguments_of_a_model_fn(tmp_path, lines):
    Estimator = tf.estimator.Estimator  # noqa: N806
    with pytest.raises(ValueError, match="must include features argument"):
        Estimator(lambda labels: None, str(tmp_path))
    with pytest.raises(ValueError, match=r"has following not expected args: \['what'\]"):
        Estimator(lambda features, what: None, str(tmp_path))
    with pytest.raises(ValueError, match="does not include params argument, but params"):
        Estimator(lambda features: None, str(tmp_path), params={})
    with pytest.raises(ValueError, match="model_fn must be provided"):
        Estimator(None, str(tmp_path))
    Estimator(scaled, str(tmp_path))
    assert "includes params argument, but params are not passed to Estimator" in lines()[-1]
    with pytest.raises(ValueError, match="model_fn should return an EstimatorSpec"):
        Estimator(lambda features, labels: None, str(tmp_path)).train(batches(), steps=1)
    with pytest.raises(ValueError, match="model_fn does not take labels, but input_fn returns"):
        Estimator(lambda features: None, str(tmp_path)).train(batches(), steps=1)


def test_steps_that_are_none(tmp_path):
    model = estimator(tmp_path)
    for given, text in (
        (dict(steps=0), "Must specify steps > 0, given: 0"),
        (dict(max_steps=-1), "Must specify max_steps > 0, given: -1"),
        (dict(steps=1, max_steps=1), "Can not provide both steps and max_steps."),
    ):
        with pytest.raises(ValueError, match=text):
            model.train(batches(), **given)
    with pytest.raises(ValueError, match="Must specify steps > 0, given: 0"):
        model.evaluate(batches(), steps=0)
    with pytest.raises(ValueError, match="as a len 2 tuple"):
        model.train(lambda: (1, 2, 3), steps=1)


def test_directories(tmp_path, lines):
    config = tf.estimator.RunConfig(model_dir=str(tmp_path))
    assert tf.estimator.Estimator(scaled, config=config).model_dir == str(tmp_path)
    assert tf.estimator.Estimator(scaled, tmp_path, config).eval_dir("a") == f"{tmp_path}/eval_a"
    with pytest.raises(ValueError, match="`model_dir` are set both in constructor and `RunConfig`"):
        tf.estimator.Estimator(scaled, "/elsewhere", config)
    with pytest.raises(ValueError, match="config must be an instance of `RunConfig`"):
        tf.estimator.Estimator(scaled, config={})
    made = tf.estimator.Estimator(scaled).model_dir
    assert any(f"Using temporary folder as model directory: {made}" in line for line in lines())
    os.rmdir(made)


def test_a_subclass_adds_and_does_not_replace(tmp_path):
    class More(tf.estimator.Estimator):
        def more(self):
            return 1

    class Other(tf.estimator.Estimator):
        def train(self):
            return self

    assert More(scaled, str(tmp_path)).more() == 1
    with pytest.raises(ValueError, match=r"cannot override members .* does override \['train'\]"):
        Other(scaled, str(tmp_path))


def test_parameters_and_settings_reach_the_functions(tmp_path):
    seen = {}

    def input_fn(mode, params, config):
        seen["input"] = mode, params, config.model_dir
        return {"x": tf.constant([1.0])}, tf.constant([3.0])

    def model_fn(features, labels, mode, params, config):
        seen["model"] = mode, params, config.tf_random_seed
        params["rate"] = 9
        return scaled(features, labels, mode, {"rate": 0.1})

    config = tf.estimator.RunConfig(tf_random_seed=5)
    model = tf.estimator.Estimator(model_fn, str(tmp_path), config, params={"rate": 1})
    model.train(input_fn, steps=1)
    assert seen == {
        "input": ("train", {"rate": 1}, str(tmp_path)),
        "model": ("train", {"rate": 9}, 5),  # a copy of its own
    }
    assert model.params == {"rate": 1}
    with tf.Graph().as_default():
        one = tf.constant([1.0])
        assert model.model_fn({"x": one}, one, "eval", config).mode == "eval"


class Counted:
    """A dataset as Estimators see it: an iterator that must be initialized."""

    def make_initializable_iterator(self):
        count = tf.get_local_variable("count", [], initializer=tf.zeros_initializer())
        self.initializer = count.initializer
        self.count = count
        return self

    def get_next(self):
        x = tf.assign_add(self.count, 1.0)
        return {"x": tf.expand_dims(x, 0)}, tf.expand_dims(3 * x, 0)


def test_an_input_fn_may_give_a_dataset(tmp_path):
    model = estimator(tmp_path)
    model.train(Counted, steps=1)
    assert model.get_variable_value("w") == pytest.approx(0.01 * 2 * 3)


def test_begins_with_the_variables_of_another_model(tmp_path):
    first = estimator(tmp_path / "a").train(batches(), steps=5)
    begun = tf.estimator.Estimator(
        scaled, str(tmp_path / "b"), params={"rate": 0.0}, warm_start_from=first.model_dir
    )
    assert begun.evaluate(batches(1))["loss"] == first.evaluate(batches(1))["loss"]
    begun.train(batches(), steps=1)
    assert begun.get_variable_value("w") == first.get_variable_value("w")
    assert begun.get_variable_value("global_step") == 1
    exported = first.export_saved_model(str(tmp_path / "exported"), serving)
    again = tf.estimator.Estimator(
        scaled, str(tmp_path / "c"), params={"rate": 0.0}, warm_start_from=exported
    )
    assert again.evaluate(batches(1))["loss"] == first.evaluate(batches(1))["loss"]
    with pytest.raises(ValueError, match="warm_start_from must be a string or a WarmStart"):
        tf.estimator.Estimator(scaled, str(tmp_path / "d"), params={}, warm_start_from=1)
    vocabulary = tf.estimator.VocabInfo("new.txt", 2, 0, "old.txt")
    settings = tf.estimator.WarmStartSettings(first.model_dir, ".*", {"w": vocabulary})
    renumbered = tf.estimator.Estimator(
        scaled, str(tmp_path / "d"), params={"rate": 0.0}, warm_start_from=settings
    )
    with pytest.raises(tf.errors.UnimplementedError, match="vocabularies of .'w'."):
        renumbered.train(batches(), steps=1)


def test_ready_made_models_are_left_out():
    with pytest.raises(tf.errors.UnimplementedError, match="tf.estimator.DNNClassifier is not"):
        tf.estimator.DNNClassifier([10], feature_columns=[])
