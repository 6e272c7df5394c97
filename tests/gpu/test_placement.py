"""A plain session places ops as TensorFlow 1.15 does where there are GPUs."""

import pytest

import minitf as tf
import minitf_runtime.ops  # noqa: F401  fills the registry
from minitf_runtime.devices.gpu_kernels import _rows, host_arguments, why_no_kernel
from minitf_runtime.ops.registry import OPS, _has_data, find_kernel
from minitf_runtime.types import float32, int32, string


def placed(capfd, config=None, **wanted):
    """The devices of all ops of the default graph, short."""
    config = config or tf.ConfigProto()
    config.log_device_placement = True
    with tf.Session(config=config) as sess:
        sess.list_devices()
        sess.run(tf.no_op("run"))
    lines = [line.split(": ") for line in capfd.readouterr().out.splitlines()]
    return {name: device.split("/device:")[1] for name, _, device in lines}


def test_ops_with_a_kernel_go_to_the_first_gpu_and_others_do_not(capfd):
    x = tf.placeholder(tf.float32, [None, 3], "x")
    w = tf.get_variable("w", [3, 2])
    y = tf.matmul(x, w, name="y")
    tf.as_string(y, name="text")
    tf.get_variable("count", [], tf.int32)
    tf.get_variable("step", [], tf.int64)
    tf.shape(y, name="shape")
    tf.add(1, 2, name="sizes")
    tf.nn.relu(tf.cast(y, tf.int32), name="no_relu_of_int32")
    tf.FIFOQueue(3, [tf.float32], name="queue")
    got = placed(capfd)
    assert {n for n, d in got.items() if d == "CPU:0" and "Init" not in n and "/" not in n} == {
        "text",
        "count",
        "no_relu_of_int32",
        "queue",
    }
    assert all(got[n] == "GPU:0" for n in ("x", "w", "w/read", "y", "step", "shape", "sizes"))


def test_a_variable_takes_its_ops_along(capfd):
    with tf.device("/cpu:0"):
        v = tf.Variable([1.0], name="v")
    w = tf.Variable([1.0], name="w")
    tf.assign_add(v, [1.0], name="to_v")
    tf.assign_add(w, [1.0], name="to_w")
    got = placed(capfd)
    assert (got["to_v"], got["v/read"], got["to_w"]) == ("CPU:0", "CPU:0", "GPU:0")


def test_soft_placement_finds_another_device(capfd):
    with tf.device("/gpu:7"):
        tf.constant(1.0, name="a")
    with tf.device("/gpu:1"):
        tf.constant(1.0, name="b")
        tf.as_string(1.0, name="text")
        tf.Variable(1, name="count")
    got = placed(capfd, tf.ConfigProto(allow_soft_placement=True))
    assert [got[n] for n in ("a", "b", "text", "count")] == ["GPU:0", "GPU:1", "CPU:0", "CPU:0"]


def test_what_has_no_kernel_there_is_an_error_without_soft_placement():
    with tf.device("/gpu:0"):
        tf.Variable(1, name="count")
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.Session().run(tf.global_variables_initializer())
    assert "because no supported kernel for GPU devices is available" in str(caught.value)


def test_the_table_is_of_the_ops_that_are_here():
    assert len(_rows()) > 350
    for op, rows in _rows().items():
        names = {a.name for a in (*OPS[op].inputs, *OPS[op].outputs)}
        for conditions, host in rows:
            assert host <= names, op
            assert {attr for attr, _ in conditions} <= OPS[op].attrs.keys(), op


def test_small_things_are_computed_in_host_memory():
    assert host_arguments("Add", {"T": int32}) == {"x", "y", "z"}
    assert find_kernel("Add", {"T": int32}, "GPU").on_host
    assert not find_kernel("Add", {"T": float32}, "GPU").on_host
    assert find_kernel("Add", {"T": string}, "GPU") is None
    assert find_kernel("Reshape", {"T": float32}, "GPU").host_inputs == {"shape"}


def test_kernels_know_what_they_get_in_host_memory():
    """An argument that TensorFlow has on the host is one that the kernel here takes from there."""
    for name, rows in _rows().items():
        data = {a.name for a in (*OPS[name].inputs, *OPS[name].outputs) if _has_data(a)}
        for _, host in rows:
            kernels = [k for k in OPS[name].kernels if k.device in (None, "GPU")]
            if kernels and not host >= data:
                declared = kernels[0].host_inputs | kernels[0].host_outputs
                assert host <= declared, name


@pytest.mark.parametrize(
    "op, attrs, text",
    [
        ("AsString", {"T": float32}, "TensorFlow has none either"),
        ("Relu", {"T": int32}, "TensorFlow has none for int32"),
    ],
)
def test_why_there_is_no_kernel(op, attrs, text):
    assert find_kernel(op, attrs, "GPU") is None
    assert why_no_kernel(op, attrs) == text
