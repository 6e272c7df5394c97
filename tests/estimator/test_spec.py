"""EstimatorSpec, TrainSpec and EvalSpec refuse what is missing or of another kind."""

from __future__ import annotations

import pytest

import minitf as tf

TRAIN, EVAL, PREDICT = tf.estimator.ModeKeys.TRAIN, tf.estimator.ModeKeys.EVAL, "infer"
Spec = tf.estimator.EstimatorSpec


@pytest.fixture
def loss():
    return tf.constant(1.0, name="loss")


@pytest.fixture
def elsewhere():
    with tf.Graph().as_default():
        return tf.constant(1.0, name="other")


def test_what_each_mode_needs(loss):
    with pytest.raises(ValueError, match=r"Missing train_op\."):
        Spec(TRAIN, loss=loss)
    with pytest.raises(ValueError, match=r"Missing loss\."):
        Spec(TRAIN, train_op=tf.no_op())
    with pytest.raises(ValueError, match=r"Missing loss\."):
        Spec(EVAL)
    with pytest.raises(ValueError, match=r"Missing predictions\."):
        Spec(PREDICT)
    made = Spec(EVAL, loss=loss)
    assert (made.predictions, made.eval_metric_ops, made.export_outputs) == ({}, {}, None)
    assert isinstance(made.scaffold, tf.train.Scaffold)


def test_kinds(loss):
    for text, given in (
        ("loss must be Tensor, given: 1", dict(loss=1)),
        ("train_op must be Operation or Tensor, given: 2", dict(loss=loss, train_op=2)),
        (r"predictions\[a\] must be Tensor, given: 3", dict(loss=loss, predictions={"a": 3})),
        ("predictions must be Tensor, given: 4", dict(loss=loss, predictions=4)),
        ("eval_metric_ops must be a dict, given: 5", dict(loss=loss, eval_metric_ops=5)),
        ("must be .metric_value, update_op. tuples, given: Tensor.* for key: m",
         dict(loss=loss, eval_metric_ops={"m": loss})),
        ("All hooks must be SessionRunHook instances, given: 6",
         dict(loss=loss, evaluation_hooks=[6])),
        ("scaffold must be tf.train.Scaffold. Given: 7", dict(loss=loss, scaffold=7)),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=text):
            Spec(EVAL, **given)


def test_shapes_of_a_loss():
    assert Spec(EVAL, loss=tf.constant([1.0])).loss.shape == []
    with pytest.raises(ValueError, match="Loss must be scalar, given: Tensor"):
        Spec(EVAL, loss=tf.constant([1.0, 2.0]))
    unknown = tf.placeholder(tf.float32)
    assert Spec(EVAL, loss=unknown).loss is unknown


def test_parts_of_another_graph(loss, elsewhere):
    for what, given in (
        ('loss with "other:0" must be from the default graph', dict(loss=elsewhere)),
        ('prediction values with "a: other:0"', dict(loss=loss, predictions={"a": elsewhere})),
        ('train_op with "other:0"', dict(loss=loss, train_op=elsewhere)),
        ('eval_metric_ops with "m: other:0"',
         dict(loss=loss, eval_metric_ops={"m": (elsewhere, loss)})),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=what):
            Spec(EVAL, **given)


def test_replace(loss):
    made = Spec(EVAL, loss=loss)
    two = tf.constant(2.0)
    assert made._replace(loss=two).loss is two
    with pytest.raises(ValueError, match="mode of EstimatorSpec cannot be changed"):
        made._replace(mode=TRAIN)


def test_a_variable_as_train_op(loss):
    v = tf.Variable(0)
    assert Spec(TRAIN, loss=loss, train_op=v).train_op is v.op


def test_outputs_to_be_served(loss):
    key = tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    export = tf.estimator.export
    made = Spec(PREDICT, predictions={"a": loss})
    assert made.export_outputs[key].outputs == {"a": loss}
    one = export.RegressionOutput(loss)
    assert Spec(PREDICT, loss, export_outputs={"r": one}).export_outputs == {"r": one, key: one}
    with pytest.raises(ValueError, match="none of them is specified as the default"):
        Spec(PREDICT, loss, export_outputs={"a": one, "b": one})
    with pytest.raises(TypeError, match="export_outputs must be dict, given: 1"):
        Spec(PREDICT, loss, export_outputs=1)
    with pytest.raises(TypeError, match="Values in export_outputs must be ExportOutput objects"):
        Spec(PREDICT, loss, export_outputs={"a": loss})
    whole = tf.constant(1)
    for output, text in (
        (lambda: export.RegressionOutput(whole), "Regression output value must be a float32"),
        (lambda: export.ClassificationOutput(whole), "Classification scores must be a float32"),
        (lambda: export.ClassificationOutput(classes=loss), "classes must be a string Tensor"),
        (export.ClassificationOutput, "At least one of scores and classes must be set"),
        (lambda: export.PredictOutput({1: loss}), "Prediction output key must be a string; got 1"),
        (lambda: export.PredictOutput({"a": 1}), "Prediction output value must be a Tensor; got 1"),
    ):
        with pytest.raises(ValueError, match=text):
            output()
    assert export.PredictOutput({("a", "b"): loss}).outputs == {"a/b": loss}


def test_train_and_eval_specs():
    def input_fn():
        return None

    Train, Eval = tf.estimator.TrainSpec, tf.estimator.EvalSpec  # noqa: N806
    made = Eval(input_fn)
    assert made[1:] == (100, None, (), (), 120, 600)
    for error, text, make in (
        (TypeError, "`input_fn` must be callable, given: 1", lambda: Train(1)),
        (ValueError, "Must specify max_steps > 0, given: 0", lambda: Train(input_fn, 0)),
        (TypeError, "All hooks must be `SessionRunHook` instances, given: 1",
         lambda: Train(input_fn, hooks=[1])),
        (ValueError, "Must specify steps > 0, given: 0", lambda: Eval(input_fn, steps=0)),
        (TypeError, "`name` must be string, given: 1", lambda: Eval(input_fn, name=1)),
        (ValueError, "start_delay_secs >= 0, given: -1",
         lambda: Eval(input_fn, start_delay_secs=-1)),
        (ValueError, "throttle_secs >= 0, given: -2", lambda: Eval(input_fn, throttle_secs=-2)),
        (TypeError, "`exporters` must be an Exporter", lambda: Eval(input_fn, exporters=3)),
        (TypeError, "`exporters` must be an Exporter", lambda: Eval(input_fn, exporters=[3])),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            make()


def test_names_of_exporters():
    def named(*names):
        exporters = [tf.estimator.FinalExporter(name, dict) for name in names]
        return tf.estimator.EvalSpec(dict, exporters=exporters)

    assert [e.name for e in named("a", "b").exporters] == ["a", "b"]
    one = tf.estimator.LatestExporter("a", dict)
    assert tf.estimator.EvalSpec(dict, exporters=one).exporters == (one,)
    with pytest.raises(ValueError, match=r"must have unique names.*\['a', 'a'\]"):
        named("a", "a")
    with pytest.raises(ValueError, match="cannot have a name that is `None` or empty"):
        named("a", "")
    with pytest.raises(ValueError, match="An Exporter must have a string name"):
        named(1)
