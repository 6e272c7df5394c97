"""Models made by a real TensorFlow 1.15 run here, and ours run there, with the same values."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import minitf as tf
from data.exchange.record import MODELS, build, run
from minitf.proto.tensor import array_of_proto
from minitf.train.graph_io import read_meta_graph_file

DATA = Path(__file__).parents[1] / "data" / "exchange"
ARCHIVE = zipfile.ZipFile(DATA / "recorded.zip")
RUNS = json.loads(ARCHIVE.read("runs.json"))


@pytest.fixture
def theirs(tmp_path):
    ARCHIVE.extractall(tmp_path)
    return tmp_path


def check(name, got):
    want = RUNS[name]
    np.testing.assert_allclose(got["losses"], want["losses"], rtol=1e-5)
    assert got["variables"].keys() == want["variables"].keys()
    for variable, value in want["variables"].items():
        np.testing.assert_allclose(got["variables"][variable], value, rtol=1e-4, atol=1e-6)
    ours, theirs = (tf.summary.Summary.FromString(bytes.fromhex(r["summary"])) for r in (got, want))
    assert [v.tag for v in ours.value] == [v.tag for v in theirs.value]
    for a, b in zip(ours.value, theirs.value):
        np.testing.assert_allclose(a.simple_value, b.simple_value, rtol=1e-5)
        np.testing.assert_allclose(a.histo.sum_squares, b.histo.sum_squares, rtol=1e-5)
        assert list(a.histo.bucket) == list(b.histo.bucket)


@pytest.mark.parametrize("name", MODELS)
def test_their_model_trains_here(name, theirs):
    check(name, run(tf, name, str(theirs / name)))


@pytest.mark.parametrize("name", MODELS)
def test_our_model_is_exported_as_theirs(name, theirs, tmp_path):
    build(tf, name, str(tmp_path / "ours"))
    assert nodes(tmp_path / "ours.meta") == nodes(theirs / f"{name}.meta")
    ours, there = (tf.train.load_checkpoint(str(p)) for p in (tmp_path / "ours", theirs / name))
    assert ours.get_variable_to_shape_map() == there.get_variable_to_shape_map()
    data = ".data-00000-of-00001"
    assert (tmp_path / f"ours{data}").read_bytes() == (theirs / f"{name}{data}").read_bytes()


def nodes(path):
    """The nodes of a meta graph, with their attributes, by name."""
    graph_def = read_meta_graph_file(str(path)).graph_def
    return {node.name: described(node) for node in graph_def.node}


def described(node):
    attrs = {key: plain(node.attr[key]) for key in node.attr if key != "_output_shapes"}
    data = [text for text in node.input if not text.startswith("^")]
    control = sorted(text for text in node.input if text.startswith("^"))
    return node.op, data + control, node.device, attrs


def plain(attr):
    """The text of an attribute; equal tensors may be written in several ways."""
    if attr.WhichOneof("value") != "tensor":
        return str(attr)
    array = array_of_proto(attr.tensor)
    return array.dtype.str, array.tolist()


@pytest.mark.oracle
@pytest.mark.parametrize("name", MODELS)
def test_our_model_trains_there(name, tmp_path, oracle):
    build(tf, name, str(tmp_path / "ours"))
    said = oracle(f"""
        import json, sys
        sys.path[:0] = [{str(DATA)!r}]
        import tensorflow as tf
        from record import run
        print(json.dumps(run(tf, {name!r}, {str(tmp_path / "ours")!r})))
    """)
    check(name, json.loads(said.splitlines()[-1]))
