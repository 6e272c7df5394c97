"""ConfigProto and the others behave as protobuf's messages (texts recorded from TF 1.15.5)."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from minitf.options import (
    ClusterDef,
    ConfigProto,
    GPUOptions,
    GraphOptions,
    JobDef,
    OptimizerOptions,
    RewriterConfig,
    RunMetadata,
    RunOptions,
    ServerDef,
)

NESTED = """\
gpu_options {
}
graph_options {
  rewrite_options {
    disable_meta_optimizer: true
  }
}
"""
MERGED = """\
device_count {
  key: "CPU"
  value: 9
}
device_count {
  key: "zz"
  value: 0
}
device_filters: "w"
device_filters: "n"
allow_soft_placement: true
"""
CLUSTER = """\
cluster_def {
  job {
    name: "ps"
    tasks {
      key: 0
      value: "a:1"
    }
    tasks {
      key: 1
      value: "b:2"
    }
  }
}
"""
VIRTUAL = """\
per_process_gpu_memory_fraction: 0.3
polling_active_delay_usecs: 3
experimental {
  virtual_devices {
    memory_limit_mb: 0.10000000149011612
    memory_limit_mb: 2.0
  }
}
"""


def test_constructor_takes_fields_parts_lists_and_maps():
    config = ConfigProto(
        device_count={"CPU": 2},
        device_filters=["/job:ps"],
        gpu_options=GPUOptions(allow_growth=True),
        graph_options={"optimizer_options": {"opt_level": "L0"}},
        inter_op_parallelism_threads=np.int64(3),
        log_device_placement=None,
    )
    assert config.device_count == {"CPU": 2}
    assert config.device_filters == ["/job:ps"]
    assert config.gpu_options.allow_growth is True
    assert config.graph_options.optimizer_options.opt_level == OptimizerOptions.L0 == -1
    assert config.inter_op_parallelism_threads == 3
    assert config.log_device_placement is False


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: ConfigProto(nope=1), ValueError, 'ConfigProto has no "nope" field'),
        (lambda: ConfigProto(allow_soft_placement="x"), TypeError, "'x' has type str"),
        (lambda: ConfigProto(operation_timeout_in_ms=1.5), TypeError, "1.5 has type float"),
        (lambda: ConfigProto(placement_period=2**31), ValueError, "Value out of range: 2147483648"),
        (lambda: ConfigProto(device_count={"CPU": "a"}), TypeError, "'a' has type str"),
        (lambda: ConfigProto(device_count={1: 1}), TypeError, "1 has type int"),
        (lambda: ConfigProto(device_filters=[1]), TypeError, "1 has type int"),
        (lambda: ConfigProto(gpu_options=GraphOptions()), TypeError, "expected GPUOptions got"),
        (lambda: GPUOptions(per_process_gpu_memory_fraction="a"), TypeError, "int, float"),
        (lambda: GPUOptions(visible_device_list=b"\xff"), ValueError, "utf-8"),
        (lambda: OptimizerOptions(opt_level="XX"), ValueError, 'unknown enum label "XX"'),
        (lambda: ClusterDef().job.append(3), TypeError, "expected JobDef got int"),
        (lambda: ConfigProto().CopyFrom(3), TypeError, "CopyFrom"),
        (lambda: ConfigProto().MergeFrom(GPUOptions()), TypeError, "got GPUOptions"),
        (lambda: ConfigProto().ClearField("zz"), ValueError, '"zz"'),
        (lambda: ConfigProto().HasField("zz"), ValueError, "no field zz"),
        (lambda: ConfigProto().HasField("device_filters"), ValueError, "presence"),
        (lambda: hash(ConfigProto()), TypeError, "unhashable type: 'ConfigProto'"),
    ],
)
def test_refuses(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("nope", 1, AttributeError),
        ("allow_soft_placement", None, TypeError),
        ("gpu_options", GPUOptions(), AttributeError),
        ("device_filters", ["a"], AttributeError),
        ("device_count", {"CPU": 1}, AttributeError),
    ],
)
def test_refuses_to_set(field, value, error):
    with pytest.raises(error):
        setattr(ConfigProto(), field, value)


def test_a_part_is_there_once_something_is_set_in_it():
    config = ConfigProto()
    assert config.gpu_options.allow_growth is False
    assert not config.HasField("gpu_options")
    config.gpu_options.allow_growth = False
    assert config.HasField("gpu_options")
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    assert str(config) == repr(config) == NESTED
    config.ClearField("graph_options")
    assert not config.graph_options.rewrite_options.disable_meta_optimizer


def test_equality_copy_and_clear():
    config = ConfigProto(allow_soft_placement=True, gpu_options=GPUOptions(allow_growth=True))
    copied = ConfigProto()
    copied.CopyFrom(config)
    assert copied == config == copy.deepcopy(config)
    assert config != ConfigProto()
    assert config != 3
    copied.gpu_options.allow_growth = False
    assert copied != config
    copied.Clear()
    assert copied == ConfigProto()
    assert str(copied) == ""


def test_repeated_field_is_a_checked_list():
    filters = ConfigProto().device_filters
    filters.append("x")
    filters.extend(["y", "z"])
    filters.insert(0, b"q")
    filters[1] = "w"
    del filters[0]
    assert filters == ["w", "y", "z"]
    assert filters[:2] == ["w", "y"]
    assert repr(filters) == "['w', 'y', 'z']"
    with pytest.raises(TypeError):
        filters[0] = 3


def test_map_field_reads_a_missing_key_as_default():
    count = ConfigProto(device_count={"CPU": 3}).device_count
    assert count.get("GPU") is None
    assert "GPU" not in count
    assert count["GPU"] == 0
    assert count == {"CPU": 3, "GPU": 0}
    del count["GPU"]
    assert dict(count) == {"CPU": 3}


def test_merge_grows_lists_and_replaces_scalars():
    config = ConfigProto(device_count={"CPU": 3, "zz": 0}, device_filters=["w"])
    config.MergeFrom(
        ConfigProto(allow_soft_placement=True, device_filters=["n"], device_count={"CPU": 9})
    )
    assert str(config) == MERGED


def test_repeated_messages():
    cluster = ClusterDef()
    job = cluster.job.add(name="ps")
    job.tasks[1] = "b:2"
    job.tasks[0] = "a:1"
    assert str(ConfigProto(cluster_def=cluster)) == CLUSTER
    cluster.job.extend([JobDef(name="worker", tasks={0: "c:3"})])
    assert [job.name for job in cluster.job] == ["ps", "worker"]
    server = ServerDef(cluster=cluster, job_name="ps")
    cluster.job[0].name = "other"
    assert server.cluster.job[0].name == "ps"


def test_numbers_and_strings_in_text():
    gpu = GPUOptions(per_process_gpu_memory_fraction=0.3, polling_active_delay_usecs=3)
    gpu.experimental.virtual_devices.add(memory_limit_mb=[0.1, 2])
    assert str(gpu) == VIRTUAL
    assert str(GPUOptions(visible_device_list='a"b\n\u00e9')) == (
        'visible_device_list: "a\\"b\\n\\303\\251"\n'
    )


def test_enums():
    assert RunOptions(trace_level=RunOptions.FULL_TRACE).trace_level == 3
    assert str(RunOptions(trace_level=3)) == "trace_level: FULL_TRACE\n"
    assert str(OptimizerOptions(opt_level=7)) == "opt_level: 7\n"
    assert RunOptions.TraceLevel.Name(3) == "FULL_TRACE"
    assert RunOptions.TraceLevel.Value("NO_TRACE") == 0
    assert OptimizerOptions.Level.items() == [("L1", 0), ("L0", -1)]
    assert RewriterConfig.SCHEDULING_HEURISTICS == 6
    with pytest.raises(ValueError, match="no enum label for 9"):
        RunOptions.TraceLevel.Name(9)


def test_run_metadata_holds_graphs_and_statistics():
    metadata = RunMetadata()
    metadata.partition_graphs.add().node.add(name="x", op="NoOp")
    assert [n.name for n in metadata.partition_graphs[0].node] == ["x"]
    assert not metadata.HasField("step_stats")
    metadata.step_stats.dev_stats.add(device="/cpu:0").node_stats.add(node_name="a")
    assert metadata.step_stats.dev_stats[0].node_stats[0].node_name == "a"
    metadata.Clear()
    assert len(metadata.partition_graphs) == 0
