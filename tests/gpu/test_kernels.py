"""Every op of the table that has a kernel for a GPU gives on the fake one what it gives on the CPU.

The fake refuses NumPy arrays beside the device's, waiting that the code does not admit, and what
cupy does not have (tests/devices/test_fake_gpu.py).
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import minitf as tf
from data.updates.record import cases as update_cases
from data.updates.record import run as run_update
from minitf.convert import const_of
from minitf.graph import Graph
from minitf_runtime.devices import fake_stream
from minitf_runtime.devices import gpu as gpus
from minitf_runtime.devices.fake_gpu import FakeGpu
from minitf_runtime.devices.gpu_kernels import host_arguments
from minitf_runtime.ops.registry import OPS, find_kernel
from minitf_runtime.passes.kernels import input_on_host, output_on_host
from ops.kernel_runs import run_on_cpu, run_on_gpu
from ops.test_table import CASES, as_type, flat, free_types, made, type_attrs

ON_GPU = [name for name in OPS if host_arguments(name, {}) is not None]
IN_TABLE = [name for name in ON_GPU if name in CASES]
# What kernels bring to the device by themselves, and how often they wait for it; others: nothing.
NOTHING = 0, 0
INSIDE = {
    # The shape of the result, or whether there is one, depends on data.
    **dict.fromkeys(
        """
        CheckNumerics Cholesky DynamicPartition LogMatrixDeterminant MatrixDeterminant
        MatrixInverse MatrixSolve SelfAdjointEigV2 Svd Where
        """.split(),
        (0, 1),
    ),
    "MatrixTriangularSolve": (0, 2),
    # An error depends on data, as in TensorFlow.
    **dict.fromkeys(("CropAndResize", "CropAndResizeGradBoxes", "CropAndResizeGradImage"), (0, 1)),
    # The end of a series depends on data.
    "Betainc": (0, 1),
    **dict.fromkeys(("Igamma", "Igammac", "IgammaGradA"), (0, 5)),
    **dict.fromkeys(("Polygamma", "Zeta"), (0, 2)),
    "RandomGammaGrad": (0, 6),
    # Rows in the order of their segments, worked out on the host.
    "SegmentSum": (0, 1),
    "UnsortedSegmentProd": (2, 1),
    # Places, limits and sizes of windows, known to the host.
    **dict.fromkeys("AvgPool AvgPool3D AvgPool3DGrad AvgPoolGrad".split(), (1, 0)),
    **dict.fromkeys(("Bucketize", "DynamicStitch"), (1, 0)),
    "ExtractImagePatches": (2, 0),
    # Drawn by NumPy, so that the numbers are the CPU's.
    **dict.fromkeys(
        """
        StatelessMultinomial StatelessRandomNormal StatelessRandomUniform StatelessRandomUniformInt
        StatelessTruncatedNormal
        """.split(),
        (1, 0),
    ),
}
# The same for cases, by their number, that make fewer or more than the others of their op.
INSIDE_CASE = {
    ("AvgPool", 1): NOTHING,  # no padding
    ("SegmentSum", 2): NOTHING,  # no rows
    ("UnsortedSegmentProd", 3): NOTHING,
    **{(name, 2): (0, 6) for name in ("Igamma", "Igammac", "IgammaGradA")},  # longer series
    **{(name, 3): (0, 4) for name in ("Igamma", "Igammac", "IgammaGradA")},  # a shorter one
}
TOLERANCES = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-12, "complex64": 1e-5}


@pytest.fixture(scope="module")
def gpu():
    return FakeGpu(0)


@pytest.fixture(autouse=True)
def little_delay(monkeypatch):
    monkeypatch.setattr(fake_stream, "LONGEST_DELAY", 2e-5)


def node_of(name, case, arrays):
    with Graph().as_default():
        return made(name, case, [const_of(x) for x in arrays]).to_node()


def variants_of(name):
    """What runs on both devices of an op's cases, and of the first one for each type that it takes:
    nodes and inputs, numbered."""
    for number, (node, arrays) in enumerate(nodes_of(name)):
        if all(find_kernel(node.op, node.attrs, kind) for kind in ("CPU", "GPU")):
            yield number, node, arrays


def nodes_of(name):
    for case in CASES[name]:
        yield node_of(name, case, flat(case.inputs)), flat(case.inputs)
    first, opdef = CASES[name][0], OPS[name]
    if "types" in first.skipped:
        return
    keys = type_attrs(opdef, first)
    for types in free_types(opdef, first):
        if find_kernel(name, types, "GPU") is None:
            continue
        cast = [
            as_type(x, types[key]) if free and key in types else x
            for x, key, free in zip(flat(first.inputs), keys, first.free)
        ]
        yield node_of(name, first, cast), cast


def assert_same(got, wanted, what):
    for mine, theirs in zip(got, wanted, strict=True):
        assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype), what
        if mine.dtype == object:
            assert mine.tolist() == theirs.tolist()
            continue
        by = TOLERANCES.get(mine.dtype.name, 1e-12)
        np.testing.assert_allclose(mine, theirs, rtol=by, atol=by, err_msg=what)


def counts(gpu):
    return Counter(
        up=gpu.uploads,
        down=gpu.downloads,
        brought=gpu.kernel_uploads,
        waited=gpu.kernel_downloads + gpu.synchronisations,
    )


@pytest.mark.parametrize("name", IN_TABLE)
def test_as_on_the_cpu(gpu, name):
    number = None
    for number, node, arrays in variants_of(name):
        before = counts(gpu)
        got = run_on_gpu(node, arrays, gpu)
        did = counts(gpu) - before
        assert_same(got, run_on_cpu(node, arrays), f"{node.op} {dict(node.attrs)}")
        assert did["up"] == sum(not input_on_host(node, i, "GPU") for i in range(len(arrays)))
        assert did["down"] == sum(not output_on_host(node, i, "GPU") for i in range(len(got)))
        inside = INSIDE_CASE.get((name, number), INSIDE.get(name, NOTHING))
        assert (did["brought"], did["waited"]) == inside, f"{name}, case {number}"
    assert number is not None


# ---- out of bounds: as in TensorFlow nobody waits on a GPU to see it


def on_gpu(build):
    with tf.Graph().as_default(), tf.device("/gpu:0"), tf.Session() as session:
        return session.run(build()).tolist()


def test_what_is_out_of_bounds_is_zero_or_left_out():
    x = np.array([[1.0, 2.0], [3.0, 4.0]], "f")
    assert on_gpu(lambda: tf.gather(x, [1, 7, -1])) == [[3, 4], [0, 0], [0, 0]]
    assert on_gpu(lambda: tf.gather(x, [[0, 2]], axis=1)) == [[[1, 0]], [[3, 0]]]
    assert on_gpu(lambda: tf.gather_nd(x, [[0, 1], [2, 0]])) == [2, 0]
    assert on_gpu(lambda: tf.scatter_nd([[0], [9]], [5.0, 6.0], [3])) == [5, 0, 0]
    assert on_gpu(lambda: tf.unsorted_segment_max(x, [1, 4], 2))[1] == [1, 2]
    assert on_gpu(lambda: tf.unsorted_segment_prod(x, [-1, 0], 1)) == [[3, 4]]


def test_a_beam_without_a_parent_is_minus_one():
    ids, parents = [[[1, 2]], [[3, 4]], [[5, 6]]], [[[0, 0]], [[7, 1]], [[0, 1]]]
    tree = dict(step_ids=ids, parent_ids=parents, max_sequence_lengths=[3], end_token=9)
    assert on_gpu(lambda: tf.raw_ops.GatherTree(**tree)) == [[[-1, 2]], [[3, 4]], [[5, 6]]]
    tree["end_token"] = 3  # a beam that is whole ends there; this one stays as it is
    assert on_gpu(lambda: tf.raw_ops.GatherTree(**tree)) == [[[-1, 2]], [[3, 4]], [[5, 6]]]


def test_the_last_row_for_a_place_is_stitched():
    merged = on_gpu(lambda: tf.dynamic_stitch([[0, 1], [1, 3]], [[1.0, 2.0], [3.0, 4.0]]))
    assert merged == [1, 3, 0, 4]


# ---- ops on variables


UPDATES = {case[0]: case for case in update_cases() if host_arguments(case[1], {}) is not None}


def repeats_a_row(case):
    rows = np.asarray(case[3].get("indices", np.zeros((0, 1))))
    rows = rows.reshape(-1, rows.shape[-1] if "Nd" in case[1] else 1)
    return len(np.unique(rows, axis=0)) < len(rows)


@pytest.mark.parametrize("label", UPDATES)
def test_updates_as_on_the_cpu(label, monkeypatch):
    case = UPDATES[label]
    if case[1].endswith("Update") and repeats_a_row(case):
        pytest.skip("which of two values stays is not said on a GPU")
    got = run_update(tf, tf.raw_ops, case)
    assert gpus._opened[True, 0].uploads
    monkeypatch.setenv(gpus.FAKES, "0")
    for mine, theirs in zip(got, run_update(tf, tf.raw_ops, case), strict=True):
        for name in theirs:
            np.testing.assert_allclose(mine[name], theirs[name], rtol=1e-6, err_msg=name)


# ---- random numbers


def drawn():
    tf.set_random_seed(5)
    kept = tf.nn.dropout(tf.ones([4, 50]), rate=0.3)
    shuffled = tf.random_shuffle(tf.range(20.0))
    return [
        tf.random_uniform([3, 5], seed=1),
        tf.random_uniform([7], maxval=100, dtype=tf.int32, seed=1),
        tf.random_normal([11], dtype=tf.float64, seed=2),
        tf.truncated_normal([2, 9], seed=3),
        tf.multinomial(tf.log([[0.2, 0.8], [0.5, 0.5]]), 6, seed=4),
        kept,
        shuffled,
    ]


def test_random_numbers_are_those_of_the_cpu(monkeypatch):
    def two_steps(device):
        with tf.Graph().as_default(), tf.device(device):
            config = tf.ConfigProto(allow_soft_placement=True)
            with tf.Session(config=config) as session:
                tensors = drawn()
                return [*session.run(tensors), *session.run(tensors)]

    for mine, theirs in zip(two_steps("/gpu:0"), two_steps("/cpu:0"), strict=True):
        np.testing.assert_array_equal(mine, theirs)


# ---- control flow across devices


def test_a_loop_in_a_branch_that_is_not_taken_does_not_run():
    """What it starts from comes from the host: dead there, if the branch is not taken."""
    x, n = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [])

    def looped():
        return tf.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, v * x), [0, x])[1]

    y = tf.cond(x > 0, looped, lambda: x)
    with tf.Session() as session:
        got = [session.run([y, *tf.gradients(y, [x])], {x: v, n: 3}) for v in (2.0, -2.0)]
    assert got == [[16, 32], [-2, 1]]
