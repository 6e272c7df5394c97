"""Tensors of beams, [batch * beams, ...] and [batch, beams, ...]; paths through their parents."""

from __future__ import annotations

from typing import Any

from minitf import nest
from minitf import tf_logging as logging
from minitf.convert import to_tensor
from minitf.default import control_dependencies, name_scope
from minitf.operation import Operation, Tensor
from minitf.ops import array, math
from minitf.ops.constant_value import constant_value
from minitf.ops.debug import Assert
from minitf.ops.raw import passthrough
from minitf.ops.tensor_array import TensorArray
from minitf.tensor_shape import TensorShape
from minitf_runtime.types import int32

gather_tree = passthrough("GatherTree", "gather_tree")


def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """Each element of the batch `multiplier` times, one after the other, for all tensors of t."""
    parts = nest.flatten(t)
    with name_scope(name, "tile_batch", [*parts, multiplier]):
        return nest.map_structure(lambda part: _tiled(part, multiplier), t)


def _tiled(t: Any, multiplier: int) -> Tensor:
    t = to_tensor(t, name="t")
    shape = array.shape(t)
    if not t.shape.ndims:
        raise ValueError("t must have statically known rank")
    tiling = [1] * (t.shape.ndims + 1)
    tiling[1] = multiplier
    batch = t.shape[0].value
    tiled = array.tile(array.expand_dims(t, 1), tiling)
    tiled = array.reshape(tiled, array.concat(([shape[0] * multiplier], shape[1:]), 0))
    known = None if batch is None else batch * multiplier
    tiled.set_shape(TensorShape([known]).concatenate(t.shape[1:]))
    return tiled


def check_rank(t: Tensor) -> int:
    """The rank. Raises ValueError if it is not known."""
    if t.shape.ndims is None:
        raise ValueError(f"Expected tensor ({t}) to have known rank, but ndims == None.")
    return t.shape.ndims  # type: ignore[no-any-return]


class Beams:
    """Turns tensors of `batch_size` (a tensor) times `width` beams from one form to the other."""

    def __init__(self, batch_size: Tensor, width: int) -> None:
        self.batch_size = batch_size
        self.width = width

    @property
    def known_batch_size(self) -> Any:
        return constant_value(self.batch_size)

    def merge(self, t: Tensor, size: Any) -> Tensor:
        """[batch, beams, size] as [batch * beams, size]."""
        known = self.known_batch_size
        shape = array.shape(t)
        rows = None if known is None else known * self.width
        rows_first = [self.batch_size * self.width]
        merged = array.reshape(t, array.concat((rows_first, shape[2:]), 0))
        merged.set_shape(TensorShape([rows]).concatenate(_shape(size)))
        return merged

    def split(self, t: Tensor, size: Any) -> Tensor:
        """[batch * beams, size] as [batch, beams, size]. Raises ValueError for another shape."""
        shape = array.shape(t)
        out = array.reshape(t, array.concat(([self.batch_size, self.width], shape[1:]), 0))
        wanted = TensorShape([self.known_batch_size, self.width]).concatenate(_shape(size))
        if not out.shape.is_compatible_with(wanted):
            raise ValueError(
                "Unexpected behavior when reshaping between beam width and batch size.  The "
                f"reshaped tensor has shape: {out.shape}.  We expected it to have shape "
                f"(batch_size, beam_width, depth) == {wanted}.  Perhaps you forgot to create a "
                "zero_state with batch_size=encoder_batch_size * beam_width?"
            )
        out.set_shape(wanted)
        return out

    def merge_state(self, t: Any, size: Any) -> Any:
        """merge for what has beams; arrays and scalars stay."""
        return t if isinstance(t, TensorArray) or check_rank(t) < 2 else self.merge(t, size)

    def split_state(self, t: Any, size: Any) -> Any:
        """split for what has a batch; arrays and scalars stay."""
        return t if isinstance(t, TensorArray) or check_rank(t) < 1 else self.split(t, size)

    def gather(
        self, indices: Tensor, t: Tensor, range_size: Any, shape: Any, name: Any = None
    ) -> Tensor:
        """t by indices [batch, beams] into each batch's `range_size` rows of t reshaped."""
        with name_scope(name, "tensor_gather_helper"):
            starts = array.expand_dims(math.range(self.batch_size) * range_size, 1)
            indices = array.reshape(indices + starts, [-1])
            output = array.gather(array.reshape(t, shape), indices)
            kept = 1 + len(shape)
            whole = array.shape(t)[:kept]
            output = array.reshape(output, whole, name="output")
            output.set_shape(TensorShape([self.known_batch_size]).concatenate(t.shape[1:kept]))
            return output

    def gather_state(self, indices: Tensor, t: Any) -> Any:
        """The parts of a state by parent; arrays, and what has no depth, stay."""
        shape = [self.batch_size * self.width, -1]
        if isinstance(t, TensorArray) or check_rank(t) < len(shape):
            return t
        return self.gather(indices, t, self.width, shape)

    def sort_array(self, t: Any, parent_ids: Tensor, lengths: Tensor) -> Any:
        """A TensorArray of a state, stacked and along the paths; anything else stays."""
        if not isinstance(t, TensorArray):
            return t
        if not t.element_shape.ndims:
            logging.warning(
                "The TensorArray %s in the cell state is not amenable to sorting based on the beam "
                "search result. For a TensorArray to be sorted, its elements shape must be "
                "defined and have at least a rank of 1, but saw shape: %s",
                t.handle.name,
                t.element_shape,
            )
            return t
        if not self._may_have_beams(t.element_shape):
            return t
        stacked = t.stack()
        with control_dependencies([self._has_beams(stacked)]):
            return gather_tree_from_array(stacked, parent_ids, lengths)

    def _may_have_beams(self, shape: TensorShape) -> bool:
        """Whether the shape fits. One of known depth is taken for [batch, beams] (TF: the same)."""
        batch, width, sizes = self.known_batch_size, self.width, shape.as_list()
        if batch is None or sizes[0] is None:
            return True
        deep = len(sizes) >= 2 and sizes[1] is not None
        if sizes[0] == batch * width and (not deep or (sizes[0], sizes[1]) == (batch, width)):
            return True
        logging.warning(
            "TensorArray reordering expects elements to be reshapable to %s which is incompatible "
            "with the current shape %s. Consider setting reorder_tensor_arrays to False to "
            "disable TensorArray reordering during the beam search.",
            TensorShape([batch, width, None]),
            shape,
        )
        return False

    def _has_beams(self, t: Tensor) -> Operation:
        """An Assert that t is [time, batch * beams, ...] or [time, batch, beams, ...]."""
        shape = array.shape(t)
        holds = math.equal(shape[1], self.batch_size * self.width)
        if t.shape.ndims != 2:
            apart = math.logical_and(
                math.equal(shape[1], self.batch_size), math.equal(shape[2], self.width)
            )
            holds = math.logical_or(holds, apart)
        return Assert(
            holds,
            [
                "TensorArray reordering expects elements to be reshapable to [batch_size, "
                f"beam_size, -1] which is incompatible with the dynamic shape of {t.name} "
                "elements. Consider setting reorder_tensor_arrays to False to disable "
                "TensorArray reordering during the beam search."
            ],
        )


def _shape(size: Any) -> TensorShape:
    return TensorShape(constant_value(size) if isinstance(size, Tensor) else size)


def gather_tree_from_array(t: Tensor, parent_ids: Tensor, sequence_length: Tensor) -> Tensor:
    """t [time, batch (* beams), ...], each beam's entries along its path through the parents."""
    sizes = zip(parent_ids.shape.as_list(), range(3))
    time, batch, width = [known or array.shape(parent_ids)[axis] for known, axis in sizes]
    beam_ids = array.expand_dims(array.expand_dims(math.range(width), 0), 0)
    beam_ids = array.tile(beam_ids, [time, batch, 1])
    longest = math.cast(math.reduce_max(sequence_length, axis=1), int32)
    path = gather_tree(
        step_ids=beam_ids,
        parent_ids=parent_ids,
        max_sequence_lengths=longest,
        end_token=width + 1,
    )
    inside = array.transpose(array.sequence_mask(sequence_length, maxlen=time), perm=[2, 0, 1])
    path = array.where(inside, x=path, y=beam_ids)
    times = array.tile(array.reshape(math.range(time), [-1, 1, 1]), [1, batch, width])
    batches = array.tile(array.reshape(math.range(batch), [-1, 1, 1]), [1, time, width])
    batches = array.transpose(batches, perm=[1, 0, 2])
    indices = array.stack([times, batches, path], -1)
    shape = array.shape(t)
    ordered = array.gather_nd(array.reshape(t, [time, batch, width, -1]), indices)
    return array.reshape(ordered, shape)
