"""Messages that tell what a step did: StepStats by device, CostGraphDef, and their parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from minitf.proto.kinds import BOOL, INT32, INT64, STRING, UINT64
from minitf.proto.message import Map, Message, Nested, Repeated, Scalar
from minitf.proto.tensor import DataType, TensorShapeProto, shape_proto

if TYPE_CHECKING:
    from minitf_runtime.plan.trace import NodeStats


class AllocationDescription(Message):
    requested_bytes = Scalar(INT64, 1)
    allocated_bytes = Scalar(INT64, 2)
    allocator_name = Scalar(STRING, 3)
    allocation_id = Scalar(INT64, 4)
    has_single_reference = Scalar(BOOL, 5)
    ptr = Scalar(UINT64, 6)


class TensorDescription(Message):
    """A tensor's type, shape and memory, without its values."""

    dtype = Scalar(DataType, 1)
    shape = Nested(TensorShapeProto, 2)
    allocation_description = Nested(AllocationDescription, 4)


class AllocationRecord(Message):
    alloc_micros = Scalar(INT64, 1)
    alloc_bytes = Scalar(INT64, 2)


class AllocatorMemoryUsed(Message):
    allocator_name = Scalar(STRING, 1)
    total_bytes = Scalar(INT64, 2)
    peak_bytes = Scalar(INT64, 3)
    live_bytes = Scalar(INT64, 4)
    allocator_bytes_in_use = Scalar(INT64, 5)
    allocation_records = Repeated(AllocationRecord, 6)


class NodeOutput(Message):
    slot = Scalar(INT32, 1)
    tensor_description = Nested(TensorDescription, 3)


class MemoryStats(Message):
    temp_memory_size = Scalar(INT64, 1)
    device_temp_memory_size = Scalar(INT64, 2)
    persistent_memory_size = Scalar(INT64, 3)
    device_persistent_memory_size = Scalar(INT64, 4)
    persistent_tensor_alloc_ids = Repeated(INT64, 5)
    device_persistent_tensor_alloc_ids = Repeated(INT64, 6)


class NodeExecStats(Message):
    """When one op ran; the `rel` times count from `all_start`."""

    node_name = Scalar(STRING, 1)
    all_start_micros = Scalar(INT64, 2)
    op_start_rel_micros = Scalar(INT64, 3)
    op_end_rel_micros = Scalar(INT64, 4)
    all_end_rel_micros = Scalar(INT64, 5)
    memory = Repeated(AllocatorMemoryUsed, 6)
    output = Repeated(NodeOutput, 7)
    timeline_label = Scalar(STRING, 8)
    scheduled_micros = Scalar(INT64, 9)
    thread_id = Scalar(UINT64, 10)
    referenced_tensor = Repeated(AllocationDescription, 11)
    memory_stats = Nested(MemoryStats, 12)
    all_start_nanos = Scalar(INT64, 13)
    op_start_rel_nanos = Scalar(INT64, 14)
    op_end_rel_nanos = Scalar(INT64, 15)
    all_end_rel_nanos = Scalar(INT64, 16)
    scheduled_nanos = Scalar(INT64, 17)


class DeviceStepStats(Message):
    device = Scalar(STRING, 1)
    node_stats = Repeated(NodeExecStats, 2)
    thread_names = Map(UINT64, STRING, 3)


class StepStats(Message):
    """The times of one step, by device."""

    dev_stats = Repeated(DeviceStepStats, 1)


class CostGraphDef(Message):
    """What a step cost, by node."""

    class Node(Message):
        class InputInfo(Message):
            preceding_node = Scalar(INT32, 1)
            preceding_port = Scalar(INT32, 2)

        class OutputInfo(Message):
            size = Scalar(INT64, 1)
            alias_input_port = Scalar(INT64, 2)
            shape = Nested(TensorShapeProto, 3)
            dtype = Scalar(DataType, 4)

        name = Scalar(STRING, 1)
        device = Scalar(STRING, 2)
        id = Scalar(INT32, 3)
        input_info = Repeated(InputInfo, 4)
        output_info = Repeated(OutputInfo, 5)
        temporary_memory_size = Scalar(INT64, 6)
        is_final = Scalar(BOOL, 7)
        control_input = Repeated(INT32, 8)
        compute_cost = Scalar(INT64, 9)
        host_temp_memory_size = Scalar(INT64, 10)
        device_temp_memory_size = Scalar(INT64, 11)
        persistent_memory_size = Scalar(INT64, 12)
        compute_time = Scalar(INT64, 14)
        memory_time = Scalar(INT64, 15)
        device_persistent_memory_size = Scalar(INT64, 16)
        inaccurate = Scalar(BOOL, 17)

    node = Repeated(Node, 1)


def step_stats(stats: Mapping[str, Sequence[NodeStats]]) -> StepStats:
    """The message of what the engine took down, device by device."""
    made = StepStats()
    for device, nodes in stats.items():
        row = made.dev_stats.add(device=device)
        for node in nodes:
            _fill(row.node_stats.add(), node)
    return made


def _fill(made: NodeExecStats, node: NodeStats) -> None:
    made.node_name = node.name
    made.timeline_label = node.label
    made.thread_id = node.thread
    made.all_start_nanos = node.start
    made.scheduled_nanos = node.scheduled
    made.op_end_rel_nanos = made.all_end_rel_nanos = node.end - node.start
    made.all_start_micros = node.start // 1000
    made.scheduled_micros = node.scheduled // 1000
    # of the two moments as written, so that one op does not seem to end in the next
    made.op_end_rel_micros = made.all_end_rel_micros = node.end // 1000 - node.start // 1000
    for output in node.outputs:
        told = made.output.add(slot=output.slot).tensor_description
        told.allocation_description.requested_bytes = output.nbytes
        told.allocation_description.allocator_name = output.allocator
        if output.dtype is not None:
            told.dtype = output.dtype.number
            told.shape.CopyFrom(shape_proto(output.shape))
