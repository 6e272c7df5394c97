"""Models made by a real TensorFlow 1.15 run here, and ours run there, with the same values."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import minitf as tf
from data.exchange.record import MODELS, build, read_graph, run, run_frozen
from minitf.proto.control_flow import CondContextDef, WhileContextDef
from minitf.proto.tensor import array_of_proto
from minitf.train.graph_io import read_meta_graph_file

DATA = Path(__file__).parents[1] / "data" / "exchange"
ARCHIVE = zipfile.ZipFile(DATA / "recorded.zip")
RUNS = json.loads(ARCHIVE.read("runs.json"))
FORMS = [".meta", ".meta.txt"]
CONTEXTS = {"cond_context": CondContextDef, "while_context": WhileContextDef}


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """A directory with what their models wrote."""
    directory = tmp_path_factory.mktemp("theirs")
    ARCHIVE.extractall(directory)
    return directory


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    """A directory with what our models wrote."""
    directory = tmp_path_factory.mktemp("ours")
    for name in MODELS:
        build(tf, name, str(directory / name))
    return directory


def check(name, got):
    want = RUNS[name]
    np.testing.assert_allclose(got["losses"], want["losses"], rtol=1e-5)
    assert got["variables"].keys() == want["variables"].keys()
    for variable, value in want["variables"].items():
        np.testing.assert_allclose(got["variables"][variable], value, rtol=1e-4, atol=1e-6)
    made, wanted = (tf.summary.Summary.FromString(bytes.fromhex(r["summary"])) for r in (got, want))
    assert [v.tag for v in made.value] == [v.tag for v in wanted.value]
    for a, b in zip(made.value, wanted.value):
        np.testing.assert_allclose(a.simple_value, b.simple_value, rtol=1e-5)
        np.testing.assert_allclose(a.histo.sum_squares, b.histo.sum_squares, rtol=1e-5)
        assert list(a.histo.bucket) == list(b.histo.bucket)


# ---- theirs here


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MODELS)
def test_their_model_trains_here(name, form, theirs):
    check(name, run(tf, name, str(theirs / name), form))


@pytest.mark.parametrize("name", MODELS)
def test_their_frozen_model_runs_here(name, theirs):
    losses = run_frozen(tf, name, str(theirs / name))
    np.testing.assert_allclose(losses, RUNS[name]["frozen"], rtol=1e-5)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MODELS)
def test_an_import_keeps_all(name, form, theirs):
    """Exported again, their graph is what it was: ops, inputs, devices, attributes, shapes.

    An op without a device takes that of an op of its class, as in TensorFlow.
    """
    file = str(theirs / f"{name}{form}")
    tf.train.import_meta_graph(file)
    again = tf.get_default_graph().as_graph_def(add_shapes=True)
    wanted = read_meta_graph_file(file).graph_def
    for node in wanted.node:
        node.device = RUNS[name]["moved"].get(node.name, node.device)
    assert nodes(again, shapes=True) == nodes(wanted, shapes=True)


# ---- ours there


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MODELS)
def test_our_model_is_exported_as_theirs(name, form, ours, theirs):
    made, wanted = (read_meta_graph_file(str(d / f"{name}{form}")) for d in (ours, theirs))
    assert nodes(made.graph_def, shapes=True) == nodes(wanted.graph_def, shapes=True)
    assert made.saver_def == wanted.saver_def
    assert made.collection_def.keys() == wanted.collection_def.keys()
    for key in wanted.collection_def:
        here, there = (told(key, message.collection_def[key]) for message in (made, wanted))
        assert here == there, key


def told(key, collection):
    """What a collection says; the values of branches and loops are sets."""
    if key not in CONTEXTS:
        return collection
    messages = map(CONTEXTS[key].FromString, collection.bytes_list.value)
    return [sorted(str(message).splitlines()) for message in messages]


@pytest.mark.parametrize("name", MODELS)
def test_our_checkpoint_is_theirs(name, ours, theirs):
    readers = [tf.train.load_checkpoint(str(d / name)) for d in (ours, theirs)]
    here, there = (r.get_variable_to_shape_map() for r in readers)
    assert here == there
    data = f"{name}.data-00000-of-00001"
    assert (ours / data).read_bytes() == (theirs / data).read_bytes()


@pytest.mark.parametrize("kind", ["needed", "frozen", "small"])
@pytest.mark.parametrize("suffix", ["pb", "pbtxt"])
@pytest.mark.parametrize("name", MODELS)
def test_our_frozen_model_is_theirs(name, kind, suffix, ours, theirs):
    made, wanted = (read_graph(tf, str(d / f"{name}.{kind}.{suffix}")) for d in (ours, theirs))
    assert nodes(made) == nodes(wanted)
    if kind == "needed":  # TensorFlow forgets them when it freezes
        assert made.versions == wanted.versions


def nodes(graph_def, shapes=False):
    """The nodes of a graph, with their attributes, by name."""
    return {node.name: described(node, shapes) for node in graph_def.node}


def described(node, shapes):
    keys = [key for key in node.attr if shapes or key != "_output_shapes"]
    data = [text for text in node.input if not text.startswith("^")]
    control = sorted(text for text in node.input if text.startswith("^"))
    return node.op, data + control, node.device, {k: plain(node.attr[k]) for k in keys}


def plain(attr):
    """The text of an attribute; equal tensors may be written in several ways."""
    if attr.WhichOneof("value") != "tensor":
        return str(attr)
    array = array_of_proto(attr.tensor)
    return array.dtype.str, array.tolist()


@pytest.mark.oracle
@pytest.mark.parametrize("name", MODELS)
def test_our_model_runs_there(name, ours, oracle):
    """Trained from both forms of the meta graph; frozen in all forms."""
    said = oracle(f"""
        import json, sys
        sys.path[:0] = [{str(DATA)!r}]
        import tensorflow as tf
        from record import run, run_frozen
        path = {str(ours / name)!r}
        for form in {FORMS}:
            print(json.dumps(run(tf, {name!r}, path, form)))
        print(json.dumps(run_frozen(tf, {name!r}, path)))
    """)
    *trained, frozen = said.splitlines()[-3:]
    for line in trained:
        check(name, json.loads(line))
    np.testing.assert_allclose(json.loads(frozen), RUNS[name]["frozen"], rtol=1e-5)
