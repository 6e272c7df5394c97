"""What a session, a run or a server is told: ConfigProto, RunOptions, ClusterDef and their parts.

The fields are those of TF 1.15 in the order of their protobuf numbers. Those that tune the rewriter
or the memory of real TensorFlow are taken and kept, and change nothing.
"""

from __future__ import annotations

from minitf.proto.kinds import BOOL, DOUBLE, FLOAT, INT32, INT64, OBJECT, STRING, Enum
from minitf.proto.message import Map, Message, Nested, Repeated, Scalar


class JobDef(Message):
    """One job of a cluster: task index -> address."""

    name = Scalar(STRING)
    tasks = Map(INT32, STRING)


class ClusterDef(Message):
    """The jobs of a cluster."""

    job = Repeated(JobDef)


class OptimizerOptions(Message):
    """How far a graph is simplified before it runs."""

    Level = Enum(L1=0, L0=-1)
    L1, L0 = Level.values()
    GlobalJitLevel = Enum(DEFAULT=0, OFF=-1, ON_1=1, ON_2=2)
    DEFAULT, OFF, ON_1, ON_2 = GlobalJitLevel.values()

    do_common_subexpression_elimination = Scalar(BOOL)
    do_constant_folding = Scalar(BOOL)
    opt_level = Scalar(Level)
    do_function_inlining = Scalar(BOOL)
    global_jit_level = Scalar(GlobalJitLevel)
    max_folded_constant_in_bytes = Scalar(INT64)


class AutoParallelOptions(Message):
    enable = Scalar(BOOL)
    num_replicas = Scalar(INT32)


class ScopedAllocatorOptions(Message):
    enable_op = Repeated(STRING)


class RewriterConfig(Message):
    """Switches of TensorFlow's graph rewriter (grappler)."""

    Toggle = Enum(DEFAULT=0, ON=1, OFF=2, AGGRESSIVE=3)
    DEFAULT, ON, OFF, AGGRESSIVE = Toggle.values()
    NumIterationsType = Enum(DEFAULT_NUM_ITERS=0, ONE=1, TWO=2)
    DEFAULT_NUM_ITERS, ONE, TWO = NumIterationsType.values()
    MemOptType = Enum(
        DEFAULT_MEM_OPT=0,
        NO_MEM_OPT=1,
        MANUAL=2,
        HEURISTICS=3,
        SWAPPING_HEURISTICS=4,
        RECOMPUTATION_HEURISTICS=5,
        SCHEDULING_HEURISTICS=6,
    )
    DEFAULT_MEM_OPT, NO_MEM_OPT, MANUAL, HEURISTICS, *_heuristics = MemOptType.values()
    SWAPPING_HEURISTICS, RECOMPUTATION_HEURISTICS, SCHEDULING_HEURISTICS = _heuristics

    layout_optimizer = Scalar(Toggle)
    disable_model_pruning = Scalar(BOOL)
    constant_folding = Scalar(Toggle)
    memory_optimization = Scalar(MemOptType)
    auto_parallel = Nested(AutoParallelOptions)
    memory_optimizer_target_node_name_scope = Scalar(STRING)
    arithmetic_optimization = Scalar(Toggle)
    dependency_optimization = Scalar(Toggle)
    loop_optimization = Scalar(Toggle)
    function_optimization = Scalar(Toggle)
    debug_stripper = Scalar(Toggle)
    meta_optimizer_iterations = Scalar(NumIterationsType)
    shape_optimization = Scalar(Toggle)
    remapping = Scalar(Toggle)
    scoped_allocator_optimization = Scalar(Toggle)
    scoped_allocator_opts = Nested(ScopedAllocatorOptions)
    min_graph_nodes = Scalar(INT32)
    pin_to_host_optimization = Scalar(Toggle)
    disable_meta_optimizer = Scalar(BOOL)
    meta_optimizer_timeout_ms = Scalar(INT64)
    fail_on_optimizer_errors = Scalar(BOOL)
    implementation_selector = Scalar(Toggle)
    auto_mixed_precision = Scalar(Toggle)
    optimizers = Repeated(STRING)


class GraphOptions(Message):
    """How a session treats its graph."""

    enable_recv_scheduling = Scalar(BOOL)
    optimizer_options = Nested(OptimizerOptions)
    build_cost_model = Scalar(INT64)
    infer_shapes = Scalar(BOOL)
    place_pruned_graph = Scalar(BOOL)
    enable_bfloat16_sendrecv = Scalar(BOOL)
    timeline_step = Scalar(INT32)
    build_cost_model_after = Scalar(INT64)
    rewrite_options = Nested(RewriterConfig)


class GPUOptions(Message):
    """Which GPUs a process uses, and how much of their memory."""

    class Experimental(Message):
        class VirtualDevices(Message):
            memory_limit_mb = Repeated(FLOAT)

        virtual_devices = Repeated(VirtualDevices)
        use_unified_memory = Scalar(BOOL)
        num_dev_to_dev_copy_streams = Scalar(INT32)
        collective_ring_order = Scalar(STRING)
        timestamped_allocator = Scalar(BOOL)
        kernel_tracker_max_interval = Scalar(INT32)
        kernel_tracker_max_bytes = Scalar(INT32)
        kernel_tracker_max_pending = Scalar(INT32)

    per_process_gpu_memory_fraction = Scalar(DOUBLE)
    allocator_type = Scalar(STRING)
    deferred_deletion_bytes = Scalar(INT64)
    allow_growth = Scalar(BOOL)
    visible_device_list = Scalar(STRING)
    polling_active_delay_usecs = Scalar(INT32)
    polling_inactive_delay_msecs = Scalar(INT32)
    force_gpu_compatible = Scalar(BOOL)
    experimental = Nested(Experimental)


class ThreadPoolOptionProto(Message):
    num_threads = Scalar(INT32)
    global_name = Scalar(STRING)


class RPCOptions(Message):
    use_rpc_for_inprocess_master = Scalar(BOOL)
    compression_algorithm = Scalar(STRING)
    compression_level = Scalar(INT32)
    cache_rpc_response = Scalar(BOOL)
    disable_session_connection_sharing = Scalar(BOOL)


class SessionMetadata(Message):
    name = Scalar(STRING)
    version = Scalar(INT64)


class ConfigProto(Message):
    """What a Session or a Server is made with."""

    class Experimental(Message):
        collective_group_leader = Scalar(STRING)
        executor_type = Scalar(STRING)
        recv_buf_max_chunk = Scalar(INT32)
        use_numa_affinity = Scalar(BOOL)
        collective_deterministic_sequential_execution = Scalar(BOOL)
        collective_nccl = Scalar(BOOL)
        share_session_state_in_clusterspec_propagation = Scalar(BOOL)
        disable_thread_spinning = Scalar(BOOL)
        share_cluster_devices_in_session = Scalar(BOOL)
        session_metadata = Nested(SessionMetadata)
        optimize_for_static_graph = Scalar(BOOL)

    device_count = Map(STRING, INT32)
    intra_op_parallelism_threads = Scalar(INT32)
    placement_period = Scalar(INT32)
    device_filters = Repeated(STRING)
    inter_op_parallelism_threads = Scalar(INT32)
    gpu_options = Nested(GPUOptions)
    allow_soft_placement = Scalar(BOOL)
    log_device_placement = Scalar(BOOL)
    use_per_session_threads = Scalar(BOOL)
    graph_options = Nested(GraphOptions)
    operation_timeout_in_ms = Scalar(INT64)
    session_inter_op_thread_pool = Repeated(ThreadPoolOptionProto)
    rpc_options = Nested(RPCOptions)
    cluster_def = Nested(ClusterDef)
    isolate_session_state = Scalar(BOOL)
    experimental = Nested(Experimental)


class ServerDef(Message):
    """All that makes one task of a cluster."""

    cluster = Nested(ClusterDef)
    job_name = Scalar(STRING)
    task_index = Scalar(INT32)
    default_session_config = Nested(ConfigProto)
    protocol = Scalar(STRING)


class RunOptions(Message):
    """Options of one `Session.run`."""

    class Experimental(Message):
        collective_graph_key = Scalar(INT64)
        use_run_handler_pool = Scalar(BOOL)

    TraceLevel = Enum(NO_TRACE=0, SOFTWARE_TRACE=1, HARDWARE_TRACE=2, FULL_TRACE=3)
    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = TraceLevel.values()

    trace_level = Scalar(TraceLevel)
    timeout_in_ms = Scalar(INT64)
    inter_op_thread_pool = Scalar(INT32)
    output_partition_graphs = Scalar(BOOL)
    report_tensor_allocations_upon_oom = Scalar(BOOL)
    experimental = Nested(Experimental)


class NodeExecStats(Message):
    """When one op ran, in microseconds; the `rel` times count from `all_start`."""

    node_name = Scalar(STRING)
    all_start_micros = Scalar(INT64)
    op_start_rel_micros = Scalar(INT64)
    op_end_rel_micros = Scalar(INT64)
    all_end_rel_micros = Scalar(INT64)
    timeline_label = Scalar(STRING)
    scheduled_micros = Scalar(INT64)
    thread_id = Scalar(INT64)


class DeviceStepStats(Message):
    device = Scalar(STRING)
    node_stats = Repeated(NodeExecStats)


class StepStats(Message):
    """The times of one step, by device."""

    dev_stats = Repeated(DeviceStepStats)


class CostGraphDef(Message):
    """What a step cost, by node."""

    class Node(Message):
        name = Scalar(STRING)
        device = Scalar(STRING)
        id = Scalar(INT32)
        temporary_memory_size = Scalar(INT64)
        compute_cost = Scalar(INT64)

    node = Repeated(Node)


class RunMetadata(Message):
    """What one `Session.run` tells of itself; `partition_graphs` are GraphDefs."""

    step_stats = Nested(StepStats)
    cost_graph = Nested(CostGraphDef)
    partition_graphs = Repeated(OBJECT)
