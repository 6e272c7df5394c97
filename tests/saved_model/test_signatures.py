"""Signatures of SavedModels, and the tensors that they tell."""

from __future__ import annotations

import pytest

import minitf as tf

model = tf.saved_model


def tensors():
    return tf.placeholder(tf.string, [None]), tf.constant(["a"]), tf.constant([0.5])


def test_kinds_of_signatures():
    examples, classes, scores = tensors()
    made = model.regression_signature_def(examples, scores)
    assert made.method_name == model.REGRESS_METHOD_NAME
    assert made.inputs["inputs"].name == examples.name
    assert made.outputs["outputs"].dtype == tf.float32
    assert model.is_valid_signature(made)
    for given in ((classes, scores), (classes, None), (None, scores)):
        made = model.classification_signature_def(examples, *given)
        wanted = [n for n, t in zip(("classes", "scores"), given) if t is not None]
        assert sorted(made.outputs) == wanted
        assert model.is_valid_signature(made)
    made = model.predict_signature_def({"x": examples}, {"y": scores})
    assert model.is_valid_signature(made)
    assert made.inputs["x"].tensor_shape.dim[0].size == -1


def test_signatures_that_cannot_be_served():
    examples, classes, scores = tensors()
    is_valid, build = model.is_valid_signature, model.build_signature_def
    info = model.build_tensor_info
    assert not is_valid(None) and not is_valid(build())
    assert not is_valid(build({"x": info(examples)}, {"y": info(scores)}, "other"))
    assert not is_valid(build({"x": info(examples)}, None, model.PREDICT_METHOD_NAME))
    for method, inputs, outputs in (
        (model.REGRESS_METHOD_NAME, {"inputs": scores}, {"outputs": scores}),
        (model.REGRESS_METHOD_NAME, {"x": examples}, {"outputs": scores}),
        (model.REGRESS_METHOD_NAME, {"inputs": examples}, {"outputs": classes}),
        (model.CLASSIFY_METHOD_NAME, {"inputs": examples}, {"more": classes}),
        (model.CLASSIFY_METHOD_NAME, {"inputs": examples}, {"scores": classes}),
    ):
        told = ({k: info(t) for k, t in given.items()} for given in (inputs, outputs))
        assert not is_valid(build(*told, method))


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda e, c, s: model.regression_signature_def(None, s), "examples cannot be None"),
        (lambda e, c, s: model.regression_signature_def(s, s), "examples must be a string"),
        (lambda e, c, s: model.regression_signature_def("x", s), "examples must be a string"),
        (lambda e, c, s: model.regression_signature_def(e, None), "predictions cannot be None"),
        (lambda e, c, s: model.regression_signature_def(e, c), "output must be a float"),
        (lambda e, c, s: model.classification_signature_def(e, None, None), "cannot both be None"),
        (lambda e, c, s: model.classification_signature_def(e, s, s), "classes must be a string"),
        (lambda e, c, s: model.classification_signature_def(e, c, c), "scores must be a float"),
        (lambda e, c, s: model.predict_signature_def({}, {"y": s}), "inputs cannot be None or"),
        (lambda e, c, s: model.predict_signature_def({"x": s}, None), "outputs cannot be None or"),
    ],
)
def test_tensors_that_do_not_fit(make, text):
    with pytest.raises(ValueError, match=text):
        make(*tensors())


def test_tensors_of_messages():
    x = tf.constant(1.0, name="x")
    info = model.build_tensor_info(x)
    assert model.get_tensor_from_tensor_info(info) is x
    with pytest.raises(KeyError, match="a/x:0"):
        model.utils.get_tensor_from_tensor_info(info, import_scope="a")
    with pytest.raises(ValueError, match="Invalid TensorInfo"):
        model.get_tensor_from_tensor_info(tf.TensorInfo())
    sparse = tf.SparseTensor([[0]], [1.0], [1])
    found = model.get_tensor_from_tensor_info(model.build_tensor_info(sparse))
    assert found.values is sparse.values and found.indices is sparse.indices
