"""Models that an Estimator exports: what they take and give, and which are kept."""

from __future__ import annotations

import logging
import os

import numpy as np
import pytest

import minitf as tf
from estimator.models import X, batches, estimator, serving

export = tf.estimator.export


@pytest.fixture
def trained(tmp_path):
    return estimator(tmp_path / "model").train(batches(), steps=5)


def served(path, feeds, key="serving_default"):
    """What a server that has loaded the model answers."""
    with tf.Graph().as_default(), tf.Session() as session:
        made = tf.saved_model.load(session, ["serve"], os.fsdecode(path))
        signature = made.signature_def[key]
        inputs = {signature.inputs[name].name: value for name, value in feeds.items()}
        return session.run({k: v.name for k, v in signature.outputs.items()}, inputs)


def test_an_exported_model_answers(trained, tmp_path):
    path = trained.export_saved_model(str(tmp_path / "out"), serving)
    assert os.path.basename(path).isdigit()
    assert os.listdir(tmp_path / "out") == [os.path.basename(path).decode()]
    assert served(path, {"x": X})["y"] == pytest.approx(2.6696503 * X)
    assert served(trained.export_savedmodel(str(tmp_path / "old"), serving), {"x": [1.0]})


def test_raw_and_parsing_receivers(trained, tmp_path):
    raw = export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [3])})
    path = trained.export_saved_model(str(tmp_path / "raw"), raw)
    assert served(path, {"x": X})["y"] == pytest.approx(2.6696503 * X)
    spec = {"x": tf.FixedLenFeature([], tf.float32)}
    path = trained.export_saved_model(
        str(tmp_path / "parsing"), export.build_parsing_serving_input_receiver_fn(spec)
    )
    floats = tf.train.Feature(float_list=tf.train.FloatList(value=[2.0]))
    example = tf.train.Example(features=tf.train.Features(feature={"x": floats}))
    assert served(path, {"examples": [example.SerializeToString()]})["y"] == pytest.approx(
        [2 * 2.6696503]
    )


def test_files_that_go_with_a_model(trained, tmp_path):
    (tmp_path / "words.txt").write_text("a b")
    path = trained.export_saved_model(
        str(tmp_path / "out"), serving, {"sub/w.txt": str(tmp_path / "words.txt")}, as_text=True
    )
    made = os.fsdecode(path)
    assert sorted(os.listdir(made)) == ["assets.extra", "saved_model.pbtxt", "variables"]
    with open(f"{made}/assets.extra/sub/w.txt") as file:
        assert file.read() == "a b"


def classifier(features, labels, mode):
    scores = tf.nn.softmax(features["x"])
    outputs = {
        "serving_default": export.ClassificationOutput(scores),
        "value": export.PredictOutput(scores),
        "whole": export.RegressionOutput(tf.to_double(scores)),
    }
    return tf.estimator.EstimatorSpec(mode, scores, export_outputs=outputs, loss=scores[0, 0])


def test_signatures_that_cannot_be_served_are_left_out(tmp_path, caplog):
    caplog.set_level(logging.INFO, "minitf")
    model = tf.estimator.Estimator(classifier, str(tmp_path))
    path = tmp_path / "model.ckpt"
    with tf.Session() as session:
        tf.train.create_global_step()
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(path))

    def receiver():
        text = tf.placeholder(tf.string, [None])
        numbers = tf.string_to_number(text)
        tensors = {"x": tf.stack([numbers, -numbers], 1)}
        alternatives = {"raw": {"x": tensors["x"]}}
        return export.ServingInputReceiver(tensors, {"inputs": text}, alternatives)

    made = model.export_saved_model(str(tmp_path / "out"), receiver, checkpoint_path=str(path))
    wanted = {"serving_default", "value", "raw:value"}
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.load(session, ["serve"], os.fsdecode(made))
        assert set(loaded.signature_def) == wanted
    assert served(made, {"inputs": [b"0"]})["scores"].tolist() == [[0.5, 0.5]]
    assert "Signatures INCLUDED in export for Classify: ['serving_default']" in caplog.messages
    assert "'whole' : Regression output must be a float Tensor." in caplog.messages


def test_what_is_refused(tmp_path):
    model = estimator(tmp_path)
    with pytest.raises(ValueError, match="An input_receiver_fn must be defined"):
        model.export_saved_model(str(tmp_path), None)
    with pytest.raises(ValueError, match="Couldn't find trained model at"):
        model.export_saved_model(str(tmp_path), serving)
    with pytest.raises(tf.errors.UnimplementedError, match="with the mode 'train'"):
        model.export_saved_model(str(tmp_path), serving, experimental_mode="train")
    x = tf.placeholder(tf.float32)
    for given, text in (
        ((None, x), "features must be defined"),
        ((x, None), "receiver_tensors must be defined"),
        (({"a": 1}, x), "feature a must be a Tensor or SparseTensor"),
        ((x, {1: x}), "receiver_tensor keys must be strings: 1"),
        (({1.5: x}, x), "feature keys must be strings or ints: 1.5"),
        ((x, x, [x]), "receiver_tensors_alternatives must be a dict"),
    ):
        with pytest.raises(ValueError, match=text):
            export.ServingInputReceiver(*given)
    assert export.ServingInputReceiver(x, x) == ({"feature": x}, {"input": x}, None)
    assert export.TensorServingInputReceiver(x, {"a": x}) == (x, {"a": x}, None)


def test_a_checkpoint_without_a_variable(trained, tmp_path):
    def other(features, labels, mode):
        w = tf.get_variable("other", [])
        return tf.estimator.EstimatorSpec(mode, {"y": w * features["x"]})

    model = tf.estimator.Estimator(other, trained.model_dir)
    with pytest.raises(ValueError, match="Could not load all requested variables from checkpoint"):
        model.export_saved_model(str(tmp_path / "out"), serving)
    assert not (tmp_path / "out").exists() or all(
        name.startswith("temp-") for name in os.listdir(tmp_path / "out")
    )


# ---- exporters


class Exporting:
    """Stands for an Estimator: exports by making a directory."""

    def __init__(self, path):
        self.model_dir = str(path)
        self.made = 0

    def export_saved_model(self, base, receiver_fn, **options):
        self.made += 1
        path = os.path.join(base, str(1000000000 + self.made))
        os.makedirs(path)
        return os.fsencode(path)


def test_the_final_and_the_latest_models(tmp_path):
    model, base = Exporting(tmp_path), str(tmp_path / "export")
    final = tf.estimator.FinalExporter("final", serving)
    assert final.export(model, base, "ckpt", {}, False) is None
    assert final.export(model, base, "ckpt", {}, True).endswith(b"1000000001")
    latest = tf.estimator.LatestExporter("latest", serving, exports_to_keep=2)
    os.makedirs(f"{base}/mine")
    for _ in range(3):
        latest.export(model, base, "ckpt", {}, False)
    assert sorted(os.listdir(base)) == ["1000000003", "1000000004", "mine"]
    with pytest.raises(ValueError, match="must be a positive number"):
        tf.estimator.LatestExporter("latest", serving, exports_to_keep=0)


def test_the_best_models(tmp_path):
    model, base = Exporting(tmp_path), str(tmp_path / "export")
    best = tf.estimator.BestExporter(serving_input_receiver_fn=serving)
    losses = [3.0, 4.0, 2.0, 2.0]
    made = [best.export(model, base, "ckpt", {"loss": loss}, False) for loss in losses]
    assert [path is not None for path in made] == [True, False, True, False]
    with pytest.raises(ValueError, match="current_eval_result cannot be empty or no loss"):
        best.export(model, base, "ckpt", {"mae": 1.0}, False)


def test_the_best_of_an_earlier_run_counts(tmp_path):
    with tf.summary.FileWriter(str(tmp_path / "eval")) as writer:
        for step, loss in enumerate([5.0, 1.0, 3.0]):
            value = tf.Summary.Value(tag="loss", simple_value=loss)
            writer.add_summary(tf.Summary(value=[value]), step)
    model, base = Exporting(tmp_path), str(tmp_path / "export")
    best = tf.estimator.BestExporter(serving_input_receiver_fn=serving)
    assert best.export(model, base, "ckpt", {"loss": np.float32(2)}, False) is None
    assert best.export(model, base, "ckpt", {"loss": np.float32(0.5)}, False) is not None


def test_how_models_are_compared(tmp_path):
    def more(best_eval_result, current_eval_result):
        return current_eval_result["score"] > best_eval_result["score"]

    best = tf.estimator.BestExporter(compare_fn=more, event_file_pattern=None)
    model, base = Exporting(tmp_path), str(tmp_path / "export")
    made = [best.export(model, base, "c", {"score": s}, False) for s in (1, 0, 2)]
    assert [path is not None for path in made] == [True, False, True]
    for fn, text in (
        (None, "`compare_fn` must not be None"),
        (lambda current_eval_result: 1, "must include best_eval_result argument"),
        (lambda best_eval_result, current_eval_result, more: 1, "not expected args: .'more'."),
    ):
        with pytest.raises(ValueError, match=text):
            tf.estimator.BestExporter(compare_fn=fn)


def test_a_model_may_give_one_tensor(tmp_path):
    def model_fn(features, mode):
        return tf.estimator.EstimatorSpec(mode, 2 * features)

    model = tf.estimator.Estimator(model_fn, str(tmp_path))
    inputs = tf.estimator.inputs.numpy_input_fn(X, shuffle=False)
    assert list(model.predict(inputs)) == list(2 * X)
    with pytest.raises(ValueError, match="predict_keys argument is not valid"):
        next(model.predict(inputs, ["a"]))
