"""Which GPUs a process has, what opens them, and the errors on the way."""

import importlib.util

import pytest

import minitf as tf
from minitf_runtime.devices import gpu
from minitf_runtime.devices.gpu import GpuOptions, find_gpus, why_none
from minitf_runtime.errors import InvalidArgumentError
from minitf_runtime.server.task import Task

WORKER, PS = "/job:worker/replica:0/task:0", "/job:ps/replica:0/task:0"


def gpus_of(config=None):
    tf.constant(1.0)
    with tf.Session(config=config) as sess:
        return [d.name for d in sess.list_devices() if d.device_type == "GPU"]


def names(*numbers):
    return [f"/job:localhost/replica:0/task:0/device:GPU:{i}" for i in numbers]


def test_a_session_has_all_gpus_or_as_many_as_it_is_told():
    assert gpus_of() == names(0, 1)
    assert gpus_of(tf.ConfigProto(device_count={"GPU": 1})) == names(0)
    assert gpus_of(tf.ConfigProto(device_count={"GPU": 0})) == []
    assert gpus_of(tf.ConfigProto(device_count={"GPU": 7})) == names(0, 1)


def test_without_gpus_the_cpu_does_it():
    with tf.Session(config=tf.ConfigProto(device_count={"GPU": 0})) as sess:
        assert sess.run(tf.constant(2.0) * 3) == 6
    assert gpu._opened == {}


def test_visible_device_list_renames(monkeypatch):
    monkeypatch.setenv(gpu.FAKES, "3")
    found = find_gpus(GpuOptions(visible="2, 0"))
    assert [found.open(i).index for i in range(len(found))] == [2, 0]
    options = tf.GPUOptions(visible_device_list="1")
    assert gpus_of(tf.ConfigProto(gpu_options=options)) == names(0)


@pytest.mark.parametrize(
    "visible, text",
    [
        ("5", "'visible_device_list' listed an invalid GPU id '5' but visible device count is 2"),
        ("0,x", "Could not parse entry in 'visible_device_list': 'x'. visible_device_list = 0,x"),
        ("-1", "Could not parse entry in 'visible_device_list': '-1'"),
        ("1,1", "visible_device_list contained a duplicate entry: 1,1"),
    ],
)
def test_a_wrong_index(visible, text):
    options = tf.GPUOptions(visible_device_list=visible)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.Session(config=tf.ConfigProto(gpu_options=options))
    assert text in str(caught.value)


def test_a_device_that_the_task_does_not_have():
    with tf.device("/gpu:2"):
        tf.constant(1.0, name="a")
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.Session().run("a:0")
    assert "explicitly assigned to /device:GPU:2 but available devices are" in str(caught.value)
    assert "CUDA" not in str(caught.value)
    with pytest.raises(InvalidArgumentError, match="no device GPU:2; this task has 2 of them"):
        find_gpus(GpuOptions()).open(2)


def test_how_many_fakes_must_be_a_number(monkeypatch):
    monkeypatch.setenv(gpu.FAKES, "two")
    with pytest.raises(InvalidArgumentError, match="must be a number, but is 'two'"):
        find_gpus(GpuOptions())


def test_tf_test_tells_the_truth(monkeypatch):
    assert tf.test.is_built_with_cuda()
    assert tf.test.is_gpu_available()
    assert tf.test.is_gpu_available(min_cuda_compute_capability=(3, 5))
    assert tf.test.gpu_device_name() == "/device:GPU:0"
    monkeypatch.setenv(gpu.FAKES, "0")
    assert not tf.test.is_gpu_available()
    assert tf.test.gpu_device_name() == ""


def test_list_local_devices():
    from minitf.python.client import device_lib

    found = device_lib.list_local_devices()
    assert [d.name for d in found if d.device_type == "GPU"] == ["/device:GPU:0", "/device:GPU:1"]
    assert found[0].name == "/device:CPU:0"


def test_a_gpu_is_opened_when_an_op_goes_there():
    with tf.device("/cpu:0"):
        a = tf.constant(1.0) + 1
    with tf.device("/gpu:1"):
        b = a + 1
    with tf.Session() as sess:
        assert sess.run(a) == 2
        assert gpu._opened == {}
        assert sess.run(b) == 3
        assert list(gpu._opened) == [(True, 1)]


def test_a_ps_takes_no_gpu_unless_it_is_told_how_many():
    def kinds(task, options):
        return sum("GPU" in d for d in Task(task, gpus=options).describe())

    assert kinds(PS, GpuOptions()) == 0
    assert kinds(PS, GpuOptions(1)) == 1
    assert kinds(WORKER, GpuOptions()) == 2


def test_a_driver_without_cupy_says_what_to_install(monkeypatch):
    monkeypatch.delenv(gpu.FAKES)
    monkeypatch.setattr(gpu.ctypes, "CDLL", lambda name: name)
    monkeypatch.setattr(gpu, "find_spec", lambda name: None)
    gpu._driver.cache_clear()
    try:
        assert "cupy is not installed: pip install 'minitf-graph[gpu]'" in why_none()
        with tf.device("/gpu:0"):
            tf.constant(1.0, name="a")
        with pytest.raises(tf.errors.InvalidArgumentError, match="cupy is not installed"):
            tf.Session().run("a:0")
    finally:
        gpu._driver.cache_clear()


@pytest.mark.parametrize(
    "error, text",
    [
        ("cudaErrorInsufficientDriver: CUDA driver version", "driver is too old"),
        ("cudaErrorNoDevice: no CUDA-capable device", "shows no device"),
        ("libcublas.so: cannot open", "cupy does not work here: RuntimeError: libcublas.so"),
    ],
)
def test_a_cupy_that_does_not_work(monkeypatch, error, text):
    assert text in gpu._broken(RuntimeError(error))


def test_this_machine_is_asked_only_if_it_has_a_driver():
    assert importlib.util.find_spec("minitf_runtime.devices.gpu")
    if not gpu._driver()[0]:
        assert why_none() == ""
