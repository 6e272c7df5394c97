"""Session and InteractiveSession: run parts of a graph on the engine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from minitf import errors
from minitf.default import get_default_graph, graph_stack, session_stack
from minitf.fetches import FetchPlan, flatten_feeds, result
from minitf.gpus import gpu_options
from minitf.graph import Graph
from minitf.node_def import graph_def
from minitf.operation import Operation, Tensor
from minitf.options import OptimizerOptions
from minitf.proto.graph import GraphDef
from minitf.proto.step_stats import step_stats
from minitf_runtime.errors import OpError
from minitf_runtime.garbage import collection_paused
from minitf_runtime.graph import Node
from minitf_runtime.session import RunOptions, RunResult, SessionOptions, connect

MAX_CACHED = 512  # fetch structures remembered by a session


class BaseSession:
    """Runs a graph at a target: '' in this process, 'grpc://host:port' on a cluster.

    Nothing is contacted before the first run. Raises NotFoundError for an unknown scheme,
    RuntimeError when used after close().
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        self._target = _text(target)
        self._graph = graph or get_default_graph()
        self._config = config
        self._options = session_options(config)
        self._master = connect(self._target, self._options)
        self._handle: str | None = None
        self._sent = 0
        self._closed = False
        self._lock = threading.Lock()
        self._plans: dict[Any, FetchPlan] = {}
        self._graph.session_for = session_for

    @property
    def graph(self) -> Graph:
        return self._graph

    @property
    def graph_def(self) -> GraphDef:
        return self._graph.as_graph_def()

    def run(
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """Runs one step and gives the values of `fetches`, in their structure (TF: Session.run)."""
        self._check_open()
        self._check_graph()
        plan = self._plan(fetches)
        feeds = flatten_feeds(self._graph, feed_dict)
        wanted = [t for t in plan.tensors if t not in feeds]
        values: dict[Tensor, Any] = {t: feeds[t] for t in plan.tensors if t in feeds}
        if wanted or plan.ops:
            ran = self._step(
                {t.name: _fed(v) for t, v in feeds.items()},
                [t.name for t in wanted],
                [op.name for op in plan.ops],
                options,
                run_metadata,
            )
            values.update(zip(wanted, ran))
        return plan.build([result(values[t]) for t in plan.tensors])

    def make_callable(
        self, fetches: Any, feed_list: Sequence[Any] | None = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """A function of the fed values that runs `fetches` (TF: Session.make_callable)."""
        keys = [self._graph.as_graph_element(f, allow_operation=False) for f in feed_list or []]

        def call(*args: Any, **kwargs: Any) -> Any:
            if len(args) != len(keys):
                raise TypeError(f"the callable takes {len(keys)} values, got {len(args)}")
            if kwargs and not accept_options:
                raise TypeError(f"the callable takes no keyword arguments, got {sorted(kwargs)}")
            return self.run(fetches, dict(zip(keys, args)), **kwargs)

        return call

    def list_devices(self) -> list[Any]:
        """The devices this session may use."""
        self._check_open()
        with self._lock:
            self._send([])  # the graph need not be placed for this
        return [
            DeviceAttributes(name, name.split("/device:")[1].split(":")[0], 0, incarnation)
            for name, incarnation in self._master.list_devices(self._handle).items()
        ]

    def close(self) -> None:
        """Ends the session; a step in flight gets CancelledError."""
        if self._closed:
            return
        self._closed = True
        if self._handle is not None:
            self._master.close(self._handle)

    # ---- parts of run

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")

    def _check_graph(self) -> None:
        if self._graph.version == 0:
            raise RuntimeError(
                "The Session graph is empty.  Add operations to the graph before calling run()."
            )

    def _plan(self, fetches: Any) -> FetchPlan:
        key = _cache_key(fetches)
        found = self._plans.get(key) if key is not None else None
        if found is None:
            found = FetchPlan(self._graph, fetches)
            if key is not None and len(self._plans) < MAX_CACHED:
                self._plans[key] = found
        return found

    def _send_graph(self) -> None:
        """Sends the ops made since the last call; the first call opens the session."""
        if self._sent == self._graph.version and self._handle is not None:
            return
        with self._lock:
            upto = self._graph.version
            with collection_paused():
                nodes = self._graph.nodes(self._sent)[: upto - self._sent]
            self._send(nodes)
            self._sent = upto

    def _send(self, nodes: list[Node]) -> None:
        """Adds nodes to the session at the master, which the first call opens."""
        try:
            if self._handle is None:
                self._handle = self._master.create_session(self._options, nodes)
            elif nodes:
                self._master.extend(self._handle, nodes)
        except OpError as e:
            raise errors.of_step(e, self._graph, not self._target) from None

    def _step(
        self,
        feeds: dict[str, Any],
        fetches: list[str],
        targets: list[str],
        options: Any,
        run_metadata: Any,
    ) -> list[Any]:
        self._send_graph()
        asked = run_options(options, run_metadata)
        try:
            ran = self._master.run(self._handle, feeds, fetches, targets, asked)
        except OpError as e:
            raise errors.of_step(e, self._graph, not self._target) from e
        if run_metadata is not None:
            _tell(run_metadata, ran)
        return ran.values  # type: ignore[no-any-return]


class Session(BaseSession):
    """`with tf.Session(target, graph, config) as sess:` (TF: Session)."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._scopes: list[Any] = []

    def as_default(self) -> Any:
        return session_stack.push(self)

    def __enter__(self) -> Session:
        graph, default = self._graph.as_default(), self.as_default()
        graph.__enter__()
        default.__enter__()
        self._scopes.append((graph, default))
        return self

    def __exit__(self, *exc: Any) -> None:
        graph, default = self._scopes.pop()
        default.__exit__(*exc)
        graph.__exit__(*exc)
        self.close()

    @staticmethod
    def reset(target: str, containers: Any = None, config: Any = None) -> None:
        """Closes all sessions of the target's master and drops containers (TF: Session.reset)."""
        connect(_text(target), session_options(config)).reset(list(containers or ()))


class InteractiveSession(BaseSession):
    """A session that is the default one from its making until close()."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        if graph is not None:
            graph_stack.items.append(graph)
        self._pushed_graph = graph
        session_stack.items.append(self)

    def as_default(self) -> Any:
        return session_stack.push(self)

    def close(self) -> None:
        if self._closed:
            return
        super().close()  # sessions may be closed in any order
        if self in session_stack.items:
            session_stack.items.remove(self)
        if self._pushed_graph in graph_stack.items:
            graph_stack.items.remove(self._pushed_graph)


class DeviceAttributes:
    """A device of a session (TF: DeviceAttributes)."""

    def __init__(self, name: str, device_type: str, memory_limit: int, incarnation: int) -> None:
        self.name = name
        self.device_type = device_type
        self.memory_limit_bytes = self.memory_limit = memory_limit
        self.incarnation = incarnation

    def __repr__(self) -> str:
        return f"_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit})"


def session_for(session: Any, what: str) -> Any:
    """The session for Tensor.eval and Operation.run. Raises ValueError if there is none."""
    found = session or session_stack.top()
    if found is None:
        raise ValueError(
            f"Cannot {what} using `{what}()`: No default session is registered. Use "
            f"`with sess.as_default()` or pass an explicit session to `{what}(session=sess)`"
        )
    return found


def session_options(config: Any) -> SessionOptions:
    """The engine's options for a ConfigProto. Raises TypeError for anything else."""
    if config is None:
        return SessionOptions()
    if not hasattr(config, "allow_soft_placement"):
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
    level = config.graph_options.optimizer_options.opt_level
    options = SessionOptions(
        config.device_count.get("CPU", 1),
        config.allow_soft_placement,
        config.log_device_placement,
        tuple(config.device_filters),
        config.operation_timeout_in_ms / 1000.0,
        config.isolate_session_state,
        config.graph_options.enable_recv_scheduling,
        gpus=gpu_options(config),
    )
    return replace(options, passes=()) if level == OptimizerOptions.L0 else options


def run_options(options: Any, run_metadata: Any) -> RunOptions:
    if options is None:
        return RunOptions()
    wanted = run_metadata is not None
    return RunOptions(
        options.timeout_in_ms / 1000.0,
        wanted and bool(options.output_partition_graphs),
        wanted and options.trace_level > 0,
    )


def _tell(run_metadata: Any, ran: RunResult) -> None:
    """Replaces the contents of a RunMetadata by what the run tells."""
    run_metadata.Clear()
    if ran.parts is not None:
        run_metadata.partition_graphs.extend(graph_def(n) for n in ran.parts.values())
    if ran.stats is not None:
        run_metadata.step_stats.CopyFrom(step_stats(ran.stats))


def _text(target: Any) -> str:
    if isinstance(target, bytes):
        return target.decode()
    if not isinstance(target, str):
        raise TypeError(f"target must be a string, but got {type(target)}")
    return target


def _cache_key(fetches: Any) -> Any:
    """A key for the usual fetch forms: one element, or a flat list or tuple of them."""
    if isinstance(fetches, (Tensor, Operation)):
        return fetches
    if type(fetches) in (list, tuple) and all(isinstance(f, (Tensor, Operation)) for f in fetches):
        return (type(fetches), *fetches)
    return None


def _fed(value: Any) -> Any:
    """A fed scalar as a NumPy scalar, which computes faster than a 0-d array."""
    return value[()] if value.ndim == 0 and value.dtype != object else value
