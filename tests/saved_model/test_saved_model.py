"""SavedModels: exchanged with a real TensorFlow 1.15, and those that are wrong."""

from __future__ import annotations

import errno
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

import minitf as tf
from data.saved_model.record import build, graph, run
from minitf.proto.control_flow import WhileContextDef
from minitf.proto.meta_graph import SavedModel

DATA = Path(__file__).parents[1] / "data" / "saved_model"
ARCHIVE = zipfile.ZipFile(DATA / "recorded.zip")
RUN = json.loads(ARCHIVE.read("run.json"))


def check(got):
    np.testing.assert_allclose(got.pop("trained"), RUN["trained"], rtol=1e-5)
    assert got == {key: value for key, value in RUN.items() if key != "trained"}


@pytest.fixture
def asset(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("some words")
    return str(path)


@pytest.fixture
def model(tmp_path, asset):
    build(tf, str(tmp_path / "model"), asset)
    return tmp_path / "model"


def load(path, tags=("serve",), **options):
    with tf.Graph().as_default(), tf.Session() as session:
        return tf.saved_model.load(session, tags, str(path), **options)


def simple(path, name="v"):
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable(name, initializer=2.0)
        session.run(v.initializer)
        tf.saved_model.simple_save(session, path, {"x": v}, {"y": v * 2.0})


def collections(made):
    """The collections as text. The items of a map have no order in a file."""
    found = {key: str(made.collection_def[key]) for key in made.collection_def}
    contexts = made.collection_def["while_context"].bytes_list.value
    return found | {"while_context": [str(WhileContextDef.FromString(v)) for v in contexts]}


# ---- what is exchanged


def test_their_model_is_loaded_here(tmp_path):
    ARCHIVE.extractall(tmp_path)
    check(run(tf, str(tmp_path / "model")))


@pytest.mark.parametrize("as_text", [False, True])
def test_our_model_is_loaded_here(as_text, tmp_path, asset):
    path = str(tmp_path / "model")
    assert not tf.saved_model.contains_saved_model(path)
    build(tf, path, asset, as_text)
    os.remove(asset)  # the model has its own
    assert tf.saved_model.loader.maybe_saved_model_directory(path)
    check(run(tf, path))


def test_a_model_is_written_as_theirs(model):
    theirs = SavedModel.FromString(ARCHIVE.read("model/saved_model.pb"))
    ours = SavedModel.FromString((model / "saved_model.pb").read_bytes())
    assert ours.saved_model_schema_version == theirs.saved_model_schema_version == 1
    for a, b in zip(ours.meta_graphs, theirs.meta_graphs, strict=True):
        assert a.meta_info_def.tags == b.meta_info_def.tags
        assert a.signature_def == b.signature_def
        assert a.saver_def == b.saver_def
        assert collections(a) == collections(b)
        assert {n.name: n.op for n in a.graph_def.node} == {n.name: n.op for n in b.graph_def.node}
    files = {n.removeprefix("model/") for n in ARCHIVE.namelist()} - {"run.json"}
    assert {str(p.relative_to(model)) for p in model.rglob("*") if p.is_file()} == files
    variables = "variables/variables.data-00000-of-00001"
    assert (model / variables).read_bytes() == ARCHIVE.read(f"model/{variables}")


@pytest.mark.oracle
@pytest.mark.parametrize("as_text", [False, True])
def test_our_model_is_loaded_there(as_text, tmp_path, asset, oracle):
    build(tf, str(tmp_path / "model"), asset, as_text)
    said = oracle(f"""
        import json, sys
        sys.path[:0] = [{str(DATA)!r}]
        import tensorflow as tf
        from record import run
        print(json.dumps(run(tf, {str(tmp_path / "model")!r})))
    """)
    check(json.loads(said.splitlines()[-1]))


# ---- the builder


def test_simple_save(tmp_path):
    simple(tmp_path / "m")
    made = load(tmp_path / "m")
    signature = made.signature_def["serving_default"]
    assert tf.saved_model.is_valid_signature(signature)
    assert signature.outputs["y"].name == "mul:0"
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, {"serve"}, os.fsencode(tmp_path / "m"))
        assert session.run("mul:0") == 4.0


def test_a_model_without_variables(tmp_path):
    with tf.Session() as session:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.saved_model.simple_save(session, str(tmp_path / "m"), {"x": x}, {"y": x + 1.0})
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, ["serve"], str(tmp_path / "m"))
        assert session.run("add:0", {"x:0": 1.0}) == 2.0


def test_the_directory_must_be_empty(model):
    with pytest.raises(AssertionError, match=f"isn't empty.*{model}"):
        tf.saved_model.Builder(str(model))
    with pytest.raises(tf.errors.OpError, match="saved_model.pb"):
        tf.saved_model.Builder(str(model / "saved_model.pb" / "x"))


def test_the_order_of_graphs(tmp_path):
    builder = tf.saved_model.Builder(str(tmp_path / "m"))
    with pytest.raises(AssertionError, match="add_meta_graph_and_variables"):
        builder.add_meta_graph(["serve"])
    with tf.Session() as session:
        builder.add_meta_graph_and_variables(session, ["serve"])
        with pytest.raises(AssertionError, match="already been saved"):
            builder.add_meta_graph_and_variables(session, ["serve"])


def test_assets_of_one_name(tmp_path):
    paths = []
    for folder, text in (("a", "one"), ("b", "two"), ("c", "one")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "f").write_text(text)
        paths.append(tf.constant(str(tmp_path / folder / "f")))
    builder = tf.saved_model.Builder(str(tmp_path / "m"))
    with tf.Session() as session:
        builder.add_meta_graph_and_variables(session, ["serve"], assets_collection=paths)
    assets = tmp_path / "m" / "assets"
    assert {p.name: p.read_text() for p in assets.iterdir()} == {"f": "one", "f_1": "two"}


@pytest.mark.parametrize(
    "value, error, text",
    [
        ("x", TypeError, "must be a Tensor"),
        (lambda: tf.constant(1), TypeError, "dtype string"),
        (lambda: tf.constant(["a", "b"]), TypeError, "scalar"),
        (lambda: tf.placeholder(tf.string), TypeError, "type constant"),
        (lambda: tf.constant(""), ValueError, "Invalid asset"),
        (lambda: tf.constant("/none/such"), tf.errors.NotFoundError, "/none/such"),
    ],
)
def test_assets_that_are_none(value, error, text, tmp_path):
    builder = tf.saved_model.Builder(str(tmp_path / "m"))
    value = value() if callable(value) else value
    with tf.Session() as session, pytest.raises(error, match=text):
        builder.add_meta_graph_and_variables(session, ["serve"], assets_collection=[value])


def test_main_ops(tmp_path):
    v = tf.get_variable("v", initializer=2.0)
    main = tf.saved_model.main_op.main_op_with_restore(v.assign(5.0))
    builder = tf.saved_model.Builder(str(tmp_path / "m"))
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(TypeError, match="main_op needs to be an Operation"):
            builder.add_meta_graph_and_variables(session, ["serve"], main_op=v)
        builder.add_meta_graph_and_variables(session, ["serve"], main_op=main)
    with pytest.raises(ValueError, match="already contains one or more main ops"):
        builder.add_meta_graph(["other"], main_op=main)
    builder.save()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.load(session, ["serve"], str(tmp_path / "m"))
        assert session.run("v:0") == 5.0


def test_signatures_that_do_not_fit(tmp_path):
    builder = tf.saved_model.Builder(str(tmp_path / "m"))
    info = tf.saved_model.build_tensor_info(tf.constant(1.0))
    with tf.Session() as session:
        for told, text in (({"x": tf.TensorInfo()}, "'encoding'"),
                           ({"x": tf.TensorInfo(name="x")}, "dtype field")):  # fmt: skip
            signatures = {"s": tf.saved_model.build_signature_def(told, {"y": info}, "m")}
            with pytest.raises(AssertionError, match=text):
                builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        reserved = {"__saved_model_init_op": tf.saved_model.build_signature_def()}
        with pytest.raises(KeyError, match="reserved for initialization"):
            builder.add_meta_graph_and_variables(session, ["serve"], reserved)


# ---- models that are wrong


def test_tags_that_no_graph_has(model):
    with pytest.raises(RuntimeError) as caught:
        load(model, ["serve", "gpu"])
    assert "tags ['gpu', 'serve'] could not be found" in str(caught.value)
    assert "available_tags: [['serve'], ['cpu', 'train']]" in str(caught.value)


@pytest.mark.parametrize("size", [-1, 1000, 0])
def test_a_file_that_is_cut_off(size, model):
    file = model / "saved_model.pb"
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(OSError, match=f"Cannot parse file {file}"):
        load(model)


def test_a_text_that_is_none(model):
    os.remove(model / "saved_model.pb")
    with pytest.raises(OSError, match="does not exist at: .*model/{saved_model.pbtxt|"):
        load(model)
    (model / "saved_model.pbtxt").write_text("meta_graphs {\n  no: 1 }")
    with pytest.raises(OSError, match='saved_model.pbtxt: line 2.*"no"'):
        load(model)
    (model / "saved_model.pbtxt").write_bytes(b"\xff\xfe")
    with pytest.raises(OSError, match=r"Cannot parse file .*saved_model.pbtxt"):
        load(model)


def test_a_model_that_has_lost_a_file(model):
    os.remove(model / "assets" / "words.txt")
    with pytest.raises(tf.errors.NotFoundError, match=r"model/assets/words.txt"):
        load(model)
    os.remove(model / "variables" / "variables.index")
    with pytest.raises(ValueError, match=r"not a valid checkpoint: .*/variables/variables"):
        load(model)


def test_a_main_op_that_is_not_there(model):
    file = model / "saved_model.pb"
    made = SavedModel.FromString(file.read_bytes())
    signature = made.meta_graphs[0].signature_def["__saved_model_init_op"]
    signature.outputs["__saved_model_init_op"].name = "gone"
    file.write_bytes(made.SerializeToString())
    with pytest.raises(tf.errors.NotFoundError, match="'gone'"):
        load(model)
    signature.outputs["__saved_model_init_op"].name = "prepare"
    file.write_bytes(made.SerializeToString())
    assert load(model, import_scope="a").signature_def
    del made.meta_graphs[0].signature_def["__saved_model_init_op"]
    made.meta_graphs[0].collection_def["saved_model_main_op"].node_list.value.append("y")
    file.write_bytes(made.SerializeToString())
    with pytest.raises(RuntimeError, match="exactly one SavedModel init op. Found: .*'y'"):
        load(model)


def test_a_full_disk_leaves_no_model(tmp_path, asset, monkeypatch):
    builder = tf.saved_model.Builder(str(tmp_path / "m"))
    with tf.Session() as session:
        graph(tf, asset)
        session.run(tf.global_variables_initializer())
        builder.add_meta_graph_and_variables(session, ["serve"])

    def fail(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", fail)
        with pytest.raises(tf.errors.ResourceExhaustedError, match=r"saved_model.pb; No space"):
            builder.save()
    assert not tf.saved_model.contains_saved_model(str(tmp_path / "m"))
    assert builder.save() == os.fsencode(tmp_path / "m" / "saved_model.pb")
    load(tmp_path / "m")
