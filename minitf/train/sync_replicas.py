"""tf.train.SyncReplicasOptimizer: one update from the averaged gradients of several workers.

Each worker gives its gradients to accumulators on the ps and takes a token for its next step. The
chief's queue runner takes the averages, applies them with the wrapped optimizer, and puts a token
for each worker into the queue.
"""

from __future__ import annotations

from typing import Any

from minitf import tf_logging
from minitf.default import (
    GraphKeys,
    colocate_with,
    control_dependencies,
    device,
    get_default_graph,
    name_scope,
)
from minitf.indexed_slices import IndexedSlices
from minitf.operation import Operation, Tensor
from minitf.ops import array, state
from minitf.ops.accumulator import ConditionalAccumulator, SparseConditionalAccumulator
from minitf.ops.group import group, no_op
from minitf.ops.queue import FIFOQueue
from minitf.train.optimizer import GradsAndVars, Optimizer
from minitf.train.queue_runner import QueueRunner
from minitf.train.session_manager import ready
from minitf.train.session_run_hook import SessionRunHook
from minitf.variables import Variable, global_variables, report_uninitialized_variables
from minitf_runtime.types import int32


class SyncReplicasOptimizer(Optimizer):
    """Wraps an optimizer so that it waits for `replicas_to_aggregate` gradients of each variable.

    Gradients of workers that are behind are dropped. `variable_averages` is an
    ExponentialMovingAverage to update after each step.
    """

    def __init__(
        self,
        opt: Optimizer,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: Any = None,
        variables_to_average: Any = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
    ) -> None:
        super().__init__(use_locking, name)
        if total_num_replicas is None:
            total_num_replicas = replicas_to_aggregate
        tf_logging.info(
            "SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s",
            replicas_to_aggregate,
            total_num_replicas,
        )
        self._opt = opt
        self._replicas_to_aggregate = replicas_to_aggregate
        self._total_num_replicas = total_num_replicas
        self._tokens_per_step = max(total_num_replicas, replicas_to_aggregate)
        self._variable_averages = variable_averages
        self._variables_to_average = variables_to_average
        self._accumulators: list[tuple[Any, str]] = []
        self._chief_queue_runner: QueueRunner | None = None

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: GradsAndVars, global_step: Any = None, name: str | None = None
    ) -> Tensor:
        """What a worker runs as its training step: gives its gradients, waits for a token.

        Raises ValueError without variables or global step.
        """
        pairs = list(grads_and_vars)
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        self._make_local_step()
        with get_default_graph().role_scope("apply"), name_scope(None, self._name):
            given, averaged = self._accumulate(pairs)
            with device(global_step.device), name_scope(""):
                update = self._opt.apply_gradients(averaged, global_step)
                train_op = self._make_queues(given, update)
            self._make_chief_init_op()
        return train_op

    def _make_local_step(self) -> None:
        """The step that a worker's gradients are of, kept on the worker."""
        dtype = self._global_step.dtype.base
        with colocate_with(no_op()):
            self._local_step = Variable(
                0,
                trainable=False,
                collections=[GraphKeys.LOCAL_VARIABLES],
                dtype=dtype,
                name="sync_rep_local_step",
            )
        self.local_step_init_op = state.assign(self._local_step, self._global_step)
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())

    def _accumulate(self, pairs: GradsAndVars) -> tuple[list[Operation], list[tuple[Any, Any]]]:
        """The ops that give the gradients, and the averaged gradients with their variables."""
        given: list[Operation] = []
        averaged: list[tuple[Any, Any]] = []
        for grad, var in pairs:
            if grad is None:
                averaged.append((None, var))
                continue
            with device(var.device):
                average, accumulator = self._accumulator(grad, var, given)
            averaged.append((average, var))
            self._accumulators.append((accumulator, var.device))
        return given, averaged

    def _accumulator(self, grad: Any, var: Any, given: list[Operation]) -> tuple[Any, Any]:
        shared_name = f"{var.name}/grad_accum"
        if isinstance(grad, Tensor):
            dense = ConditionalAccumulator(grad.dtype, var.shape, shared_name)
            given.append(dense.apply_grad(grad, self._local_step))
            return dense.take_grad(self._replicas_to_aggregate), dense
        if not isinstance(grad, IndexedSlices):
            raise ValueError("Unknown grad type!")
        sparse = SparseConditionalAccumulator(grad.dtype, (), shared_name)
        given.append(sparse.apply_indexed_slices_grad(grad, self._local_step))
        return sparse.take_indexed_slices_grad(self._replicas_to_aggregate), sparse

    def _make_queues(self, given: list[Operation], update: Any) -> Tensor:
        """The worker's step; the chief's step is left to a queue runner."""
        dtype = self._global_step.dtype.base
        name = "sync_token_q"
        self._tokens = FIFOQueue(-1, dtype, shapes=(), shared_name=name, name=name)
        name = "dummy_queue"
        dummy = FIFOQueue(1, int32, shapes=(), shared_name=name, name=name)
        with control_dependencies(given):
            token = self._tokens.dequeue()
        train_op = state.assign(self._local_step, token)
        with control_dependencies([update]):
            sync_op = self._put_tokens(self._tokens_per_step)
        if self._variable_averages is not None:
            with control_dependencies([sync_op]):
                sync_op = self._variable_averages.apply(self._variables_to_average)
        self._chief_queue_runner = QueueRunner(dummy, [sync_op])
        return train_op  # type: ignore[no-any-return]

    def _put_tokens(self, count: int) -> Operation:
        return self._tokens.enqueue_many((array.fill([count], self._global_step),))

    def _make_chief_init_op(self) -> None:
        inits: list[Any] = [self.local_step_init_op]
        for accumulator, where in self._accumulators:
            with device(where):
                inits.append(accumulator.set_global_step(self._global_step, name="SetGlobalStep"))
        self.chief_init_op = group(*inits)

    # ---- starting

    def get_chief_queue_runner(self) -> QueueRunner:
        """The queue runner whose thread makes the updates. Raises ValueError if it is too early."""
        if self._chief_queue_runner is None:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_init_tokens_op(self, num_tokens: int = -1) -> Operation:
        """An op that puts the first tokens, by default one for each gradient that is waited for.

        Raises ValueError before apply_gradients(), or for too few tokens.
        """
        if self._chief_queue_runner is None:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens == -1:
            num_tokens = self._replicas_to_aggregate
        elif num_tokens < needed:
            raise ValueError(
                f"Too few tokens to finish the first step: {num_tokens} (given) vs {needed} "
                "(needed)"
            )
        if num_tokens <= 0:
            return no_op(name="no_init_tokens")
        with device(self._global_step.device), name_scope(""):
            return self._put_tokens(num_tokens)

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SessionRunHook:
        """A hook that initializes a monitored session for this optimizer."""
        return _SyncReplicasHook(self, is_chief, num_tokens)

    # ---- of the wrapped optimizer

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self) -> list[str]:
        return self._opt.get_slot_names()

    def variables(self) -> list[Any]:
        return self._opt.variables()


class _SyncReplicasHook(SessionRunHook):
    """Runs the local initializer; on the chief, starts the queue runner and puts first tokens."""

    def __init__(self, optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int) -> None:
        self._optimizer = optimizer
        self._is_chief = is_chief
        self._num_tokens = num_tokens
        self._init_tokens: Operation | None = None

    def begin(self) -> None:
        if self._optimizer._chief_queue_runner is None:
            raise ValueError(
                "SyncReplicasOptimizer.apply_gradient should be called before using the hook."
            )
        if self._is_chief:
            self._local_init = self._optimizer.chief_init_op
            self._init_tokens = self._optimizer.get_init_tokens_op(self._num_tokens)
        else:
            self._local_init = self._optimizer.local_step_init_op.op

    def after_create_session(self, session: Any, coord: Any) -> None:
        missing = ready(
            self._optimizer.ready_for_local_init_op,
            session,
            "Model is not ready for SyncReplicasOptimizer local init.",
        )
        if missing:
            raise RuntimeError(
                "Init operations did not make model ready for SyncReplicasOptimizer local_init. "
                f"Init op: {self._local_init.name}, error: {missing}"
            )
        session.run(self._local_init)
        if self._init_tokens is None:
            return
        session.run(self._init_tokens)
        runner = self._optimizer.get_chief_queue_runner()
        runner.create_threads(session, coord=coord, daemon=True, start=True)
