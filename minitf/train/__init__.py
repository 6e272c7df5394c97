"""tf.train: optimizers, clusters, coordination of threads, and what else training needs."""

from minitf.options import ClusterDef, JobDef, ServerDef
from minitf.proto.example import (
    BytesList,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SequenceExample,
)
from minitf.summary.reader import summary_iterator
from minitf.train.adadelta import AdadeltaOptimizer
from minitf.train.adagrad import AdagradOptimizer
from minitf.train.adagrad_da import AdagradDAOptimizer
from minitf.train.adam import AdamOptimizer
from minitf.train.basic_session_run_hooks import (
    FeedFnHook,
    FinalOpsHook,
    GlobalStepWaiterHook,
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    SecondOrStepTimer,
    StopAtStepHook,
)
from minitf.train.batching import (
    batch,
    batch_join,
    maybe_batch,
    maybe_batch_join,
    maybe_shuffle_batch,
    maybe_shuffle_batch_join,
    shuffle_batch,
    shuffle_batch_join,
)
from minitf.train.checkpoint_management import (
    checkpoint_exists,
    checkpoints_iterator,
    generate_checkpoint_state_proto,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    remove_checkpoint,
    update_checkpoint_state,
)
from minitf.train.checkpoint_reader import (
    CheckpointReader,
    NewCheckpointReader,
    list_variables,
    load_checkpoint,
    load_variable,
)
from minitf.train.cluster_spec import ClusterSpec
from minitf.train.coordinator import Coordinator, LooperThread
from minitf.train.device_setter import replica_device_setter
from minitf.train.ftrl import FtrlOptimizer
from minitf.train.global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)
from minitf.train.gradient_descent import GradientDescentOptimizer
from minitf.train.graph_io import write_graph
from minitf.train.init_from_checkpoint import init_from_checkpoint
from minitf.train.input import (
    input_producer,
    limit_epochs,
    match_filenames_once,
    range_input_producer,
    slice_input_producer,
    string_input_producer,
)
from minitf.train.learning_rate_decay import (
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    linear_cosine_decay,
    natural_exp_decay,
    noisy_linear_cosine_decay,
    piecewise_constant,
    piecewise_constant_decay,
    polynomial_decay,
)
from minitf.train.meta_graph import export_meta_graph, import_meta_graph
from minitf.train.momentum import MomentumOptimizer
from minitf.train.monitored_session import (
    MonitoredSession,
    MonitoredTrainingSession,
    SingularMonitoredSession,
)
from minitf.train.moving_averages import ExponentialMovingAverage
from minitf.train.optimizer import Optimizer
from minitf.train.profiler_hook import ProfilerHook
from minitf.train.proximal_adagrad import ProximalAdagradOptimizer
from minitf.train.proximal_gradient_descent import ProximalGradientDescentOptimizer
from minitf.train.queue_runner import QueueRunner, add_queue_runner, start_queue_runners
from minitf.train.rmsprop import RMSPropOptimizer
from minitf.train.saver import Saver, SaverDef
from minitf.train.saving_hooks import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    StepCounterHook,
    SummarySaverHook,
)
from minitf.train.scaffold import Scaffold
from minitf.train.server import Server
from minitf.train.session_creator import (
    ChiefSessionCreator,
    SessionCreator,
    WorkerSessionCreator,
)
from minitf.train.session_manager import SessionManager
from minitf.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from minitf.train.supervisor import Supervisor, basic_train_loop
from minitf.train.sync_replicas import SyncReplicasOptimizer
from minitf.train.warm_starting import VocabInfo, warm_start

__all__ = [
    "AdadeltaOptimizer", "AdagradDAOptimizer", "AdagradOptimizer", "AdamOptimizer", "BytesList",
    "CheckpointReader", "CheckpointSaverHook", "CheckpointSaverListener", "ChiefSessionCreator",
    "ClusterDef", "ClusterSpec", "Coordinator", "Example", "ExponentialMovingAverage", "Feature",
    "FeatureList", "FeatureLists", "Features", "FeedFnHook", "FinalOpsHook", "FloatList",
    "FtrlOptimizer", "GlobalStepWaiterHook", "GradientDescentOptimizer", "Int64List", "JobDef",
    "LoggingTensorHook", "LooperThread", "MomentumOptimizer", "MonitoredSession",
    "MonitoredTrainingSession", "NanLossDuringTrainingError", "NanTensorHook",
    "NewCheckpointReader", "Optimizer", "ProfilerHook", "ProximalAdagradOptimizer",
    "ProximalGradientDescentOptimizer", "QueueRunner", "RMSPropOptimizer", "Saver", "SaverDef",
    "Scaffold", "SecondOrStepTimer", "SequenceExample", "Server", "ServerDef", "SessionCreator",
    "SessionManager", "SessionRunArgs", "SessionRunContext", "SessionRunHook", "SessionRunValues",
    "SingularMonitoredSession", "StepCounterHook", "StopAtStepHook", "SummarySaverHook",
    "Supervisor", "SyncReplicasOptimizer", "VocabInfo", "WorkerSessionCreator", "add_queue_runner",
    "assert_global_step", "basic_train_loop", "batch", "batch_join", "checkpoint_exists",
    "checkpoints_iterator", "cosine_decay", "cosine_decay_restarts", "create_global_step",
    "exponential_decay",
    "export_meta_graph", "generate_checkpoint_state_proto", "get_checkpoint_mtimes",
    "get_checkpoint_state", "get_global_step", "get_or_create_global_step", "global_step",
    "import_meta_graph", "init_from_checkpoint", "input_producer", "inverse_time_decay",
    "latest_checkpoint",
    "limit_epochs", "linear_cosine_decay", "list_variables", "load_checkpoint", "load_variable",
    "match_filenames_once", "maybe_batch", "maybe_batch_join", "maybe_shuffle_batch",
    "maybe_shuffle_batch_join", "natural_exp_decay", "noisy_linear_cosine_decay",
    "piecewise_constant", "piecewise_constant_decay", "polynomial_decay", "range_input_producer",
    "remove_checkpoint",
    "replica_device_setter", "shuffle_batch", "shuffle_batch_join", "slice_input_producer",
    "start_queue_runners", "string_input_producer", "summary_iterator", "update_checkpoint_state",
    "warm_start", "write_graph",
]  # fmt: skip
