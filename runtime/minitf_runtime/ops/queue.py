"""Queue ops. What a queue does is in queue_state.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitf_runtime.errors import invalid
from minitf_runtime.ops.queue_state import (
    Close,
    Dequeue,
    Element,
    Enqueue,
    PaddingFIFOQueue,
    PriorityQueue,
    Queue,
    RandomShuffleQueue,
    check_element,
)
from minitf_runtime.ops.registry import (
    Attr,
    ShapeContext,
    Types,
    kernel,
    no_outputs,
    op,
    scalar,
    unknown,
)
from minitf_runtime.ops.strings import string_scalar
from minitf_runtime.types import DType, Shape, c_name, int64, is_full, show_shape

_SHARED: dict[str, Any] = dict(container="", shared_name="")
_QUEUE: dict[str, Any] = dict(
    component_types=Types(minimum=1), shapes=Attr("list(shape)", []), capacity=-1, **_SHARED
)


# ---- the queue


def _handle(suffix: str, **attrs: Any) -> None:
    """Declares a kind of queue: its handle is a resource, or for the old form a string ref."""
    op(f"{suffix}V2", "-> handle: resource", scalar, stateful=True, **attrs)
    op(f"{suffix}", "-> handle: Ref(string)", lambda c: [(2,)], stateful=True, **attrs)


_handle("FIFOQueue", **_QUEUE)
_handle("PaddingFIFOQueue", **_QUEUE)
_handle("RandomShuffleQueue", **_QUEUE, min_after_dequeue=0, seed=0, seed2=0)
_handle("PriorityQueue", **{**_QUEUE, "component_types": Types([]), "shapes": Attr("list(shape)")})


def shared(node: Any, kind: str, make: Callable[[str], Any]) -> Any:
    """The resource of a handle op: found by its shared name, else the node's own."""
    name = node.attrs["shared_name"] or node.resources.private_name(node.name)
    container = node.attrs["container"]
    return node.resources.lookup_or_create(container, kind, name, lambda: make(name))


def _make(node: Any, name: str) -> Queue:
    attrs = node.attrs
    types, shapes, capacity = attrs["component_types"], attrs["shapes"], attrs["capacity"]
    if node.op.startswith("PriorityQueue"):
        return PriorityQueue(name, [int64, *types], [(), *shapes] if shapes else [], capacity)
    if node.op.startswith("PaddingFIFOQueue"):
        return PaddingFIFOQueue(name, types, shapes, capacity)
    if node.op.startswith("FIFOQueue"):
        return Queue(name, types, shapes, capacity)
    keep = attrs["min_after_dequeue"]
    if keep < 0:
        raise invalid(f"min_after_dequeue {keep} must be >= 0")
    if 0 <= capacity <= keep:
        raise invalid(f"min_after_dequeue {keep} must be < capacity {capacity}")
    seeds = attrs["seed"], attrs["seed2"]
    return RandomShuffleQueue(name, types, shapes, capacity, min_after_dequeue=keep, seeds=seeds)


def _check_alike(queue: Any, asked: Any, op_type: str) -> None:
    """Raises InvalidArgumentError if a queue of that name is not what a node asks for."""
    prefix = f"Shared queue '{queue.name}' has"
    if type(queue) is not type(asked):
        raise invalid(f"Expected {queue.kind}, found {op_type}")
    if queue.capacity != asked.capacity:
        raise invalid(
            f"{prefix} capacity {queue.capacity} but requested capacity was {asked.capacity}"
        )
    for what, show in (("types", _names), ("shapes", _shapes)):
        have, want = getattr(queue, what), getattr(asked, what)
        if have != want:
            raise invalid(
                f"{prefix} component {what} {show(have)} but requested component {what} were "
                f"{show(want)}"
            )
    if isinstance(queue, RandomShuffleQueue):
        have, want = queue.min_after_dequeue, asked.min_after_dequeue
        if have != want:
            raise invalid(
                f"{prefix} min_after_dequeue {have} but requested min_after_dequeue was {want}."
            )
        if asked.seeds != (0, 0) and queue.seeds != asked.seeds:
            raise invalid(
                f"{prefix} random seeds {queue.seeds} but requested seeds are {asked.seeds}."
            )


def _names(types: Sequence[DType]) -> str:
    return ", ".join(map(c_name, types))


def _shapes(shapes: Sequence[Shape]) -> str:
    return "[" + ",".join(map(show_shape, shapes)) + "]"


@kernel(*(f"{_kind}Queue{_v}" for _kind in ("FIFO", "PaddingFIFO", "Priority", "RandomShuffle")
          for _v in ("", "V2")))  # fmt: skip
def queue_handle(xp: Any, *, node: Any) -> Queue:
    def find() -> Queue:
        queue: Queue = shared(node, "queue", lambda name: _make(node, name))
        _check_alike(queue, _make(node, queue.name), node.op)
        return queue

    return node.keep(find)  # type: ignore[no-any-return]


def resource(handle: Any, kind: type[Any], told: str) -> Any:
    """The object behind a handle. Raises InvalidArgumentError if it is not of that kind."""
    if isinstance(handle, np.ndarray):
        handle = handle.item()  # a handle picked out of a tensor of handles
    if not isinstance(handle, kind):
        raise invalid(
            "Trying to access resource using the wrong type. "
            f"Expected {told} got {type(handle).__name__}"
        )
    return handle


def _queue(handle: Any) -> Queue:
    return resource(handle, Queue, "a queue")  # type: ignore[no-any-return]


# ---- ops on it: each for both forms of handle


def _both(name: str, signature: str, shape: Any, blocking: bool = False, **attrs: Any) -> None:
    for version, handle in (("V2", "resource"), ("", "Ref(string)")):
        op(f"{name}{version}", f"handle: {handle}{signature}", shape, stateful=True,
           blocking=blocking, **attrs)  # fmt: skip


def _dequeue_many_shape(c: ShapeContext) -> list[Shape]:
    n = c.value(1)
    if n is not None and int(n) < 0 and "Many" in c.opdef.name:
        raise ValueError(f"Input 'n' must be >= 0, but is {int(n)}")
    return unknown(c)


_COMPONENTS = dict(Tcomponents=Types(minimum=1), timeout_ms=-1)
_TYPES = dict(component_types=Types(minimum=1), timeout_ms=-1)
_both("QueueEnqueue", ", components: Tcomponents ->", no_outputs, True, **_COMPONENTS)
_both("QueueEnqueueMany", ", components: Tcomponents ->", no_outputs, True, **_COMPONENTS)
_both("QueueDequeue", " -> components: component_types", unknown, True, **_TYPES)
for _name in ("QueueDequeueMany", "QueueDequeueUpTo"):
    _both(_name, ", n: int32 -> components: component_types", _dequeue_many_shape, True, **_TYPES)
_both("QueueSize", " -> size: int32", scalar)
_both("QueueIsClosed", " -> is_closed: bool", scalar)
_both("QueueClose", " ->", no_outputs, True, cancel_pending_enqueues=False)


def _check_timeout(timeout_ms: int) -> None:
    if timeout_ms != -1:
        raise invalid("Timeout not supported yet.")


def _check_types(have: Sequence[DType], queue: Queue, taking: bool) -> None:
    if tuple(have) == queue.types:
        return
    handle, arrow = ("resource", "->") if taking else ("resource, ", "")
    end = "" if taking else "->"
    raise invalid(
        f"Signature mismatch, have: {handle}{arrow}{_names(have)}{end} "
        f"expected: {handle}{arrow}{_names(queue.types)}{end}"
    )


@kernel("QueueEnqueue", "QueueEnqueueV2", host_inputs="components")
def enqueue(xp: Any, handle: Any, components: Any, *, Tcomponents: Any, timeout_ms: int,  # noqa: N803
            step: Any) -> None:  # fmt: skip
    queue = _queue(handle)
    _check_timeout(timeout_ms)
    _check_types(Tcomponents, queue, taking=False)
    check_element(queue, components, many=False)
    queue.attempt(Enqueue([tuple(components)]), step)


@kernel("QueueEnqueueMany", "QueueEnqueueManyV2", host_inputs="components")
def enqueue_many(xp: Any, handle: Any, components: Any, *, Tcomponents: Any,  # noqa: N803
                 timeout_ms: int, step: Any) -> None:  # fmt: skip
    queue = _queue(handle)
    _check_timeout(timeout_ms)
    _check_types(Tcomponents, queue, taking=False)
    check_element(queue, components, many=True)
    elements = [tuple(_item(c, i) for c in components) for i in range(len(components[0]))]
    if elements:
        queue.attempt(Enqueue(elements), step)


def _item(batch: Any, i: int) -> Any:
    """Element i; a string stays a tensor."""
    item = batch[i]
    return string_scalar(item) if isinstance(item, bytes) else item


@kernel("QueueDequeue", "QueueDequeueV2", host_outputs="components")
def dequeue(xp: Any, handle: Any, *, component_types: Any, timeout_ms: int, step: Any) -> Element:
    queue = _queue(handle)
    _check_timeout(timeout_ms)
    _check_types(component_types, queue, taking=True)
    attempt = Dequeue(1)
    queue.attempt(attempt, step)
    return attempt.taken[0]


def _dequeue_batch(queue: Queue, types: Any, attempt: Dequeue, step: Any) -> Element:
    _check_types(types, queue, taking=True)
    if not (
        queue.shapes and (isinstance(queue, PaddingFIFOQueue) or all(map(is_full, queue.shapes)))
    ):
        raise invalid(
            f"{queue.kind}'s DequeueMany and DequeueUpTo require the components to have "
            "specified shapes."
        )
    if not attempt.wanted:
        return tuple(_empty(t, s) for t, s in zip(queue.types, queue.shapes))
    queue.attempt(attempt, step)
    return tuple(queue.batch(values, t) for values, t in zip(zip(*attempt.taken), queue.types))


def _empty(dtype: DType, shape: Shape) -> Any:
    return np.empty((0, *(n or 0 for n in shape or ())), dtype.as_numpy_dtype)


@kernel("QueueDequeueMany", "QueueDequeueManyV2", host_inputs="n", host_outputs="components")
def dequeue_many(xp: Any, handle: Any, n: Any, *, component_types: Any, timeout_ms: int,
                 step: Any) -> Element:  # fmt: skip
    _check_timeout(timeout_ms)
    if n < 0:
        raise invalid(f"DequeueManyOp requested {n} < 0 elements")
    return _dequeue_batch(_queue(handle), component_types, Dequeue(int(n)), step)


@kernel("QueueDequeueUpTo", "QueueDequeueUpToV2", host_inputs="n", host_outputs="components")
def dequeue_up_to(xp: Any, handle: Any, n: Any, *, component_types: Any, timeout_ms: int,
                  step: Any) -> Element:  # fmt: skip
    _check_timeout(timeout_ms)
    if n < 0:
        raise invalid(f"DequeueUpToOp requested {n} < 0 elements")
    return _dequeue_batch(_queue(handle), component_types, Dequeue(int(n), up_to=True), step)


@kernel("QueueSize", "QueueSizeV2", host_outputs="size")
def queue_size(xp: Any, handle: Any) -> Any:
    return np.int32(_queue(handle).size())


@kernel("QueueIsClosed", "QueueIsClosedV2", host_outputs="is_closed")
def queue_is_closed(xp: Any, handle: Any) -> Any:
    return np.bool_(_queue(handle).closed)


@kernel("QueueClose", "QueueCloseV2")
def queue_close(xp: Any, handle: Any, *, cancel_pending_enqueues: bool, step: Any) -> None:
    queue = _queue(handle)
    if cancel_pending_enqueues:
        queue.close_now()
    else:
        queue.attempt(Close(), step)
