"""tf.QueueBase and its kinds: objects that stand for a queue on a device."""

from __future__ import annotations

import hashlib
from functools import reduce
from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Operation, Tensor
from minitf.ops import array
from minitf.ops.apply import apply_op, make_op
from minitf.ops.constant_value import constant_value
from minitf.ops.random import get_seed
from minitf.tensor_shape import TensorShape, unknown_shape
from minitf_runtime.types import DType, as_dtype, int64, resource

__all__ = ["FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue"]


# ---- arguments of constructors


def _type_list(dtypes: Any) -> list[DType]:
    dtypes = dtypes if isinstance(dtypes, (list, tuple)) else [dtypes]
    return [as_dtype(t) for t in dtypes]


def _is_size(value: Any) -> bool:
    return value is None or isinstance(value, int)


def _shape_list(shapes: Any, partial: bool = False) -> list[TensorShape] | None:
    """One shape per component. Raises ValueError for a shape that is not known well enough."""
    lone = not isinstance(shapes, (list, tuple)) or any(map(_is_size, shapes))
    if partial and (lone or not shapes):
        raise ValueError("When providing partial shapes, a list of shapes must be provided.")
    if shapes is None:
        return None
    if isinstance(shapes, TensorShape):
        shapes = [shapes]
    if not isinstance(shapes, (list, tuple)):
        raise TypeError("shapes must be a TensorShape or a list or tuple of TensorShapes.")
    if all(map(_is_size, shapes)):
        shapes = [shapes]
    shapes = [TensorShape(s) for s in shapes]
    if not partial and not all(s.is_fully_defined() for s in shapes):
        raise ValueError(f"All shapes must be fully defined: {shapes}")
    if any(s.ndims is None for s in shapes):
        raise ValueError(f"All shapes must have a defined rank: {shapes}")
    return shapes


def _name_list(names: Any, dtypes: list[DType]) -> list[str] | None:
    if names is None:
        return None
    names = list(names) if isinstance(names, (list, tuple)) else [names]
    if len(names) != len(dtypes):
        raise ValueError("List of names must have the same length as the list of dtypes")
    return names


def _common_shape(a: TensorShape, b: TensorShape) -> TensorShape:
    if a.ndims is None or a.ndims != b.ndims:
        return unknown_shape()
    return TensorShape([m if m == n else None for m, n in zip(a.as_list(), b.as_list())])


# ---- queues


class QueueBase:
    """A queue that lives on a device; the methods make ops on it (TF: QueueBase)."""

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: Tensor) -> None:
        for what, given in (("shapes", shapes), ("names", names)):
            if given is not None and len(given) != len(dtypes):
                raise ValueError(f"Queue {what} must have the same length as dtypes")
        self._dtypes = dtypes
        known = [unknown_shape()] * len(dtypes) if shapes is None else shapes
        self._shapes = [TensorShape(s) for s in known]
        self._names = names
        self._queue_ref = queue_ref
        self._name = queue_ref.op.name.split("/")[-1]

    @staticmethod
    def from_list(index: Any, queues: list[QueueBase]) -> QueueBase:
        """The queue at place `index`, chosen at run time. Raises TypeError for unlike queues."""
        if not queues or not isinstance(queues, list):
            raise TypeError("A list of queues expected")
        if not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if not all(q.dtypes == first.dtypes for q in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if not all(q.names == first.names for q in queues):
            raise TypeError("Queues do not have matching component names.")
        shapes = [reduce(_common_shape, s) for s in zip(*(q.shapes for q in queues))]
        chosen = array.gather(array.stack([q.queue_ref for q in queues]), index)
        return QueueBase(first.dtypes, shapes, first.names, chosen)

    @property
    def queue_ref(self) -> Tensor:
        return self._queue_ref

    @property
    def name(self) -> str:
        return self._queue_ref.op.name

    @property
    def dtypes(self) -> list[DType]:
        return self._dtypes  # type: ignore[no-any-return]

    @property
    def shapes(self) -> list[TensorShape]:
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        return self._names  # type: ignore[no-any-return]

    def enqueue(self, vals: Any, name: str | None = None) -> Operation:
        """An op that adds one element; it waits while the queue is full."""
        with name_scope(name, f"{self._name}_enqueue", _values(vals)) as scope:
            tensors = self._components(vals)
            for tensor, shape in zip(tensors, self._shapes):
                tensor.shape.assert_is_compatible_with(shape)
            return self._make("QueueEnqueue", scope, tensors)

    def enqueue_many(self, vals: Any, name: str | None = None) -> Operation:
        """An op that adds all elements of a batch, one after the other."""
        with name_scope(name, f"{self._name}_EnqueueMany", _values(vals)) as scope:
            tensors = self._components(vals)
            batch = tensors[0].shape.with_rank_at_least(1)[0]
            for tensor, shape in zip(tensors, self._shapes):
                batch = batch.merge_with(tensor.shape.with_rank_at_least(1)[0])
                tensor.shape[1:].assert_is_compatible_with(shape)
            return self._make("QueueEnqueueMany", scope, tensors)

    def dequeue(self, name: str | None = None) -> Any:
        """One element; waits for it. Raises OutOfRangeError when the queue is closed and empty."""
        op = self._take("QueueDequeue", name or f"{self._name}_Dequeue")
        for output, shape in zip(op.outputs, self._shapes):
            output.set_shape(shape)
        return self._element(op)

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """n elements as a batch; waits for all of them."""
        op = self._take("QueueDequeueMany", name or f"{self._name}_DequeueMany", n)
        known = constant_value(op.inputs[1])
        self._set_batch_shapes(op, None if known is None else int(known))
        return self._element(op)

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """n elements, or those that a closed queue has left."""
        op = self._take("QueueDequeueUpTo", name or f"{self._name}_DequeueUpTo", n)
        self._set_batch_shapes(op, None)
        return self._element(op)

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """An op after which nothing can be added; pending enqueues finish or are cancelled."""
        name = name or f"{self._name}_Close"
        return self._make("QueueClose", name, cancel_pending_enqueues=cancel_pending_enqueues)

    def is_closed(self, name: str | None = None) -> Tensor:
        return self._make("QueueIsClosed", name or f"{self._name}_Is_Closed").outputs[0]

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements: int32 scalar."""
        return self._make("QueueSize", name or f"{self._name}_Size").outputs[0]

    def _make(self, op_type: str, name: str, *inputs: Any, **attrs: Any) -> Operation:
        """An op on the queue, of the form that its handle has."""
        version = "V2" if self._queue_ref.dtype is resource else ""
        return make_op(op_type + version, self._queue_ref, *inputs, name=name, **attrs)

    def _take(self, op_type: str, name: str, *inputs: Any) -> Operation:
        return self._make(op_type, name, *inputs, component_types=self._dtypes)

    def _set_batch_shapes(self, op: Operation, size: int | None) -> None:
        for output, shape in zip(op.outputs, self._shapes):
            output.set_shape(TensorShape([size]).concatenate(shape))

    def _components(self, vals: Any) -> list[Tensor]:
        """An element's tensors in order. Raises ValueError if it is not named as the queue is."""
        if isinstance(vals, dict):
            vals = self._in_order(vals)
        elif self._names:
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        elif not isinstance(vals, (list, tuple)):
            vals = [vals]
        return [
            to_tensor(val, dtype, name=f"component_{i}")
            for i, (val, dtype) in enumerate(zip(vals, self._dtypes))
        ]

    def _in_order(self, vals: dict[str, Any]) -> list[Any]:
        if not self._names:
            raise ValueError("Queue must have names to enqueue a dictionary")
        if sorted(self._names, key=str) != sorted(vals, key=str):
            raise ValueError(
                "Keys in dictionary to enqueue do not match names of Queue.  "
                f"Dictionary: ({sorted(vals)}), Queue: ({sorted(self._names)})"
            )
        return [vals[k] for k in self._names]

    def _element(self, op: Operation) -> Any:
        if self._names:
            return dict(zip(self._names, op.outputs))
        return op.outputs[0] if len(op.outputs) == 1 else list(op.outputs)


def _values(vals: Any) -> list[Any]:
    if isinstance(vals, dict):
        return list(vals.values())
    return list(vals) if isinstance(vals, (list, tuple)) else [vals]


class FIFOQueue(QueueBase):
    """Gives elements in the order they came (TF: FIFOQueue)."""

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ) -> None:
        dtypes = _type_list(dtypes)
        shapes = _shape_list(shapes)
        names = _name_list(names, dtypes)
        handle = apply_op(
            "FIFOQueueV2", component_types=dtypes, shapes=shapes, capacity=capacity,
            shared_name=shared_name, name=name,
        )  # fmt: skip
        super().__init__(dtypes, shapes, names, handle)


class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue of elements that differ in size; batches are padded (TF: PaddingFIFOQueue)."""

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        dtypes = _type_list(dtypes)
        known = _shape_list(shapes, partial=True) or []
        names = _name_list(names, dtypes)
        if len(dtypes) != len(known):
            raise ValueError(
                "Shapes must be provided for all components, but received "
                f"{len(dtypes)} dtypes and {len(known)} shapes."
            )
        handle = apply_op(
            "PaddingFIFOQueueV2", component_types=dtypes, shapes=known, capacity=capacity,
            shared_name=shared_name, name=name,
        )  # fmt: skip
        super().__init__(dtypes, known, names, handle)


class RandomShuffleQueue(QueueBase):
    """Gives elements in random order (TF: RandomShuffleQueue)."""

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        dtypes = _type_list(dtypes)
        shapes = _shape_list(shapes)
        names = _name_list(names, dtypes)
        seed1, seed2 = get_seed(seed)
        if seed1 is None and seed2 is None:
            seed1, seed2 = 0, 0
        elif seed is None and shared_name is not None:
            # Queues of one name must ask for one seed, whenever in the graph they are made.
            digest = hashlib.md5(f"{seed1}{shared_name}".encode(), usedforsecurity=False)
            seed2 = int(digest.hexdigest()[:8], 16) & 0x7FFFFFFF
        handle = apply_op(
            "RandomShuffleQueueV2", component_types=dtypes, shapes=shapes, capacity=capacity,
            min_after_dequeue=min_after_dequeue, seed=seed1, seed2=seed2,
            shared_name=shared_name, name=name,
        )  # fmt: skip
        super().__init__(dtypes, shapes, names, handle)


class PriorityQueue(QueueBase):
    """Gives the element of smallest priority, an int64 that comes first (TF: PriorityQueue)."""

    def __init__(
        self,
        capacity: int,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        types = _type_list(types)
        known = _shape_list(shapes)
        handle = apply_op(
            "PriorityQueueV2", component_types=types, shapes=known, capacity=capacity,
            shared_name=shared_name, name=name,
        )  # fmt: skip
        super().__init__(
            [int64, *types], [TensorShape([]), *known] if known else known, names, handle
        )
