"""What a session, a run or a server is told: ConfigProto, RunOptions, ClusterDef and their parts.

The fields are those of TF 1.15 in the order of their protobuf numbers. Those that tune the rewriter
or the memory of real TensorFlow are taken and kept, and change nothing.
"""

from __future__ import annotations

from minitf.proto.graph import GraphDef
from minitf.proto.kinds import BOOL, DOUBLE, FLOAT, INT32, INT64, STRING, Enum
from minitf.proto.message import Map, Message, Nested, Repeated, Scalar
from minitf.proto.step_stats import CostGraphDef, StepStats


class JobDef(Message):
    """One job of a cluster: task index -> address."""

    name = Scalar(STRING, 1)
    tasks = Map(INT32, STRING, 2)


class ClusterDef(Message):
    """The jobs of a cluster."""

    job = Repeated(JobDef, 1)


class OptimizerOptions(Message):
    """How far a graph is simplified before it runs."""

    Level = Enum(L1=0, L0=-1)
    L1, L0 = Level.values()
    GlobalJitLevel = Enum(DEFAULT=0, OFF=-1, ON_1=1, ON_2=2)
    DEFAULT, OFF, ON_1, ON_2 = GlobalJitLevel.values()

    do_common_subexpression_elimination = Scalar(BOOL, 1)
    do_constant_folding = Scalar(BOOL, 2)
    opt_level = Scalar(Level, 3)
    do_function_inlining = Scalar(BOOL, 4)
    global_jit_level = Scalar(GlobalJitLevel, 5)
    max_folded_constant_in_bytes = Scalar(INT64, 6)


class AutoParallelOptions(Message):
    enable = Scalar(BOOL, 1)
    num_replicas = Scalar(INT32, 2)


class ScopedAllocatorOptions(Message):
    enable_op = Repeated(STRING, 1)


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

    layout_optimizer = Scalar(Toggle, 1)
    disable_model_pruning = Scalar(BOOL, 2)
    constant_folding = Scalar(Toggle, 3)
    memory_optimization = Scalar(MemOptType, 4)
    auto_parallel = Nested(AutoParallelOptions, 5)
    memory_optimizer_target_node_name_scope = Scalar(STRING, 6)
    arithmetic_optimization = Scalar(Toggle, 7)
    dependency_optimization = Scalar(Toggle, 8)
    loop_optimization = Scalar(Toggle, 9)
    function_optimization = Scalar(Toggle, 10)
    debug_stripper = Scalar(Toggle, 11)
    meta_optimizer_iterations = Scalar(NumIterationsType, 12)
    shape_optimization = Scalar(Toggle, 13)
    remapping = Scalar(Toggle, 14)
    scoped_allocator_optimization = Scalar(Toggle, 15)
    scoped_allocator_opts = Nested(ScopedAllocatorOptions, 16)
    min_graph_nodes = Scalar(INT32, 17)
    pin_to_host_optimization = Scalar(Toggle, 18)
    disable_meta_optimizer = Scalar(BOOL, 19)
    meta_optimizer_timeout_ms = Scalar(INT64, 20)
    fail_on_optimizer_errors = Scalar(BOOL, 21)
    implementation_selector = Scalar(Toggle, 22)
    auto_mixed_precision = Scalar(Toggle, 23)
    optimizers = Repeated(STRING, 100)


class GraphOptions(Message):
    """How a session treats its graph."""

    enable_recv_scheduling = Scalar(BOOL, 2)
    optimizer_options = Nested(OptimizerOptions, 3)
    build_cost_model = Scalar(INT64, 4)
    infer_shapes = Scalar(BOOL, 5)
    place_pruned_graph = Scalar(BOOL, 6)
    enable_bfloat16_sendrecv = Scalar(BOOL, 7)
    timeline_step = Scalar(INT32, 8)
    build_cost_model_after = Scalar(INT64, 9)
    rewrite_options = Nested(RewriterConfig, 10)


class GPUOptions(Message):
    """Which GPUs a process uses, and how much of their memory."""

    class Experimental(Message):
        class VirtualDevices(Message):
            memory_limit_mb = Repeated(FLOAT, 1)

        virtual_devices = Repeated(VirtualDevices, 1)
        use_unified_memory = Scalar(BOOL, 2)
        num_dev_to_dev_copy_streams = Scalar(INT32, 3)
        collective_ring_order = Scalar(STRING, 4)
        timestamped_allocator = Scalar(BOOL, 5)
        kernel_tracker_max_interval = Scalar(INT32, 7)
        kernel_tracker_max_bytes = Scalar(INT32, 8)
        kernel_tracker_max_pending = Scalar(INT32, 9)

    per_process_gpu_memory_fraction = Scalar(DOUBLE, 1)
    allocator_type = Scalar(STRING, 2)
    deferred_deletion_bytes = Scalar(INT64, 3)
    allow_growth = Scalar(BOOL, 4)
    visible_device_list = Scalar(STRING, 5)
    polling_active_delay_usecs = Scalar(INT32, 6)
    polling_inactive_delay_msecs = Scalar(INT32, 7)
    force_gpu_compatible = Scalar(BOOL, 8)
    experimental = Nested(Experimental, 9)


class ThreadPoolOptionProto(Message):
    num_threads = Scalar(INT32, 1)
    global_name = Scalar(STRING, 2)


class RPCOptions(Message):
    use_rpc_for_inprocess_master = Scalar(BOOL, 1)
    compression_algorithm = Scalar(STRING, 2)
    compression_level = Scalar(INT32, 3)
    cache_rpc_response = Scalar(BOOL, 4)
    disable_session_connection_sharing = Scalar(BOOL, 5)


class SessionMetadata(Message):
    name = Scalar(STRING, 1)
    version = Scalar(INT64, 2)


class ConfigProto(Message):
    """What a Session or a Server is made with."""

    class Experimental(Message):
        collective_group_leader = Scalar(STRING, 1)
        executor_type = Scalar(STRING, 3)
        recv_buf_max_chunk = Scalar(INT32, 4)
        use_numa_affinity = Scalar(BOOL, 5)
        collective_deterministic_sequential_execution = Scalar(BOOL, 6)
        collective_nccl = Scalar(BOOL, 7)
        share_session_state_in_clusterspec_propagation = Scalar(BOOL, 8)
        disable_thread_spinning = Scalar(BOOL, 9)
        share_cluster_devices_in_session = Scalar(BOOL, 10)
        session_metadata = Nested(SessionMetadata, 11)
        optimize_for_static_graph = Scalar(BOOL, 12)

    device_count = Map(STRING, INT32, 1)
    intra_op_parallelism_threads = Scalar(INT32, 2)
    placement_period = Scalar(INT32, 3)
    device_filters = Repeated(STRING, 4)
    inter_op_parallelism_threads = Scalar(INT32, 5)
    gpu_options = Nested(GPUOptions, 6)
    allow_soft_placement = Scalar(BOOL, 7)
    log_device_placement = Scalar(BOOL, 8)
    use_per_session_threads = Scalar(BOOL, 9)
    graph_options = Nested(GraphOptions, 10)
    operation_timeout_in_ms = Scalar(INT64, 11)
    session_inter_op_thread_pool = Repeated(ThreadPoolOptionProto, 12)
    rpc_options = Nested(RPCOptions, 13)
    cluster_def = Nested(ClusterDef, 14)
    isolate_session_state = Scalar(BOOL, 15)
    experimental = Nested(Experimental, 16)


class ServerDef(Message):
    """All that makes one task of a cluster."""

    cluster = Nested(ClusterDef, 1)
    job_name = Scalar(STRING, 2)
    task_index = Scalar(INT32, 3)
    default_session_config = Nested(ConfigProto, 4)
    protocol = Scalar(STRING, 5)


class RunOptions(Message):
    """Options of one `Session.run`."""

    class Experimental(Message):
        collective_graph_key = Scalar(INT64, 1)
        use_run_handler_pool = Scalar(BOOL, 2)

    TraceLevel = Enum(NO_TRACE=0, SOFTWARE_TRACE=1, HARDWARE_TRACE=2, FULL_TRACE=3)
    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = TraceLevel.values()

    trace_level = Scalar(TraceLevel, 1)
    timeout_in_ms = Scalar(INT64, 2)
    inter_op_thread_pool = Scalar(INT32, 3)
    output_partition_graphs = Scalar(BOOL, 5)
    report_tensor_allocations_upon_oom = Scalar(BOOL, 7)
    experimental = Nested(Experimental, 8)


class RunMetadata(Message):
    """What one `Session.run` tells of itself."""

    step_stats = Nested(StepStats, 1)
    cost_graph = Nested(CostGraphDef, 2)
    partition_graphs = Repeated(GraphDef, 3)
