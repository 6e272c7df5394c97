"""The layer BatchNormalization: its variables, and the two ways to normalize a batch."""

from __future__ import annotations

from typing import Any

from minitf.convert import constant, to_tensor
from minitf.default import colocate_with, get_default_graph
from minitf.initializers import ones_initializer, zeros_initializer
from minitf.layers.arguments import known_truth, smart_cond
from minitf.layers.base import Layer
from minitf.layers.input_spec import InputSpec
from minitf.layers.renorm import Renorm
from minitf.ops import array, math, normalization, state
from minitf.tensor_shape import TensorShape
from minitf.variables.base import VariableAggregation, VariableSynchronization

_ZEROS, _ONES = zeros_initializer(), ones_initializer()


class BatchNormalization(Renorm, Layer):
    """Normalizes by the batch while training, else by moving averages (TF: BatchNormalization).

    The updates of the averages go to UPDATE_OPS: a training step must run them. Raises TypeError
    or ValueError for an axis or options that do not go together.
    """

    def __init__(
        self,
        axis: Any = -1,
        momentum: float = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = _ZEROS,
        gamma_initializer: Any = _ONES,
        moving_mean_initializer: Any = _ZEROS,
        moving_variance_initializer: Any = _ONES,
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: dict[str, Any] | None = None,
        renorm_momentum: float = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        if not isinstance(axis, (int, list)):
            raise TypeError(f"axis must be int or list, type given: {type(axis)}")
        self.axis = axis if isinstance(axis, int) else list(axis)
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self.beta_initializer = beta_initializer
        self.gamma_initializer = gamma_initializer
        self.moving_mean_initializer = moving_mean_initializer
        self.moving_variance_initializer = moving_variance_initializer
        self.beta_regularizer = beta_regularizer
        self.gamma_regularizer = gamma_regularizer
        self.beta_constraint = beta_constraint
        self.gamma_constraint = gamma_constraint
        self.fused = True if fused is None else fused
        self.virtual_batch_size = virtual_batch_size
        self.adjustment = adjustment
        self._settle_renorm(renorm, renorm_clipping, renorm_momentum)

    # ---- variables

    def build(self, input_shape: Any) -> None:
        """Makes the variables. Raises ValueError for axes that the input does not have."""
        shape = TensorShape(input_shape)
        if not shape.ndims:
            raise ValueError("Input has undefined rank:", shape)
        rank = len(shape)
        self.axis = self._settle_axis(rank)
        self._check_virtual_batch()
        self.fused = bool(self.fused) and rank == 4 and self._can_be_fused()
        self._data_format = "NCHW" if self.axis == [1] else "NHWC"
        sizes = {axis: shape[axis].value for axis in self.axis}
        if None in sizes.values():
            raise ValueError("Input has undefined `axis` dimension. Input shape: ", shape)
        self.input_spec = InputSpec(ndim=rank, axes=sizes)
        if len(sizes) == 1 and self.virtual_batch_size is None:
            self._param_shape = list(sizes.values())
        else:
            self._param_shape = [sizes.get(i, 1) for i in range(rank)]
        if self.virtual_batch_size is not None:
            self._param_shape.insert(1, 1)
            self.axis = [axis + 1 for axis in self.axis]
        self._add_weights()
        self.built = True

    def _settle_axis(self, rank: int) -> list[int]:
        axes = [self.axis] if isinstance(self.axis, int) else self.axis
        axes = [rank + axis if axis < 0 else axis for axis in axes]
        for axis in axes:
            if not 0 <= axis < rank:
                raise ValueError(f"Invalid axis: {axis}")
        if len(axes) != len(set(axes)):
            raise ValueError(f"Duplicate axis: {axes}")
        return axes

    def _check_virtual_batch(self) -> None:
        if self.virtual_batch_size is None:
            return
        if self.virtual_batch_size <= 0:
            raise ValueError(
                "virtual_batch_size must be a positive integer that divides the true batch size "
                "of the input Tensor"
            )
        if 0 in self.axis:
            raise ValueError(
                "When using virtual_batch_size, the batch dimension must be 0 and thus axis "
                "cannot include 0"
            )
        if self.adjustment is not None:
            raise ValueError("When using virtual_batch_size, adjustment cannot be specified")

    def _can_be_fused(self) -> bool:
        plain = not self.renorm and self.virtual_batch_size is None and self.adjustment is None
        return plain and len(self.axis) == 1 and self.axis[0] in (1, 3)

    @property
    def _param_dtype(self) -> str:
        return "float32" if self.dtype in (None, "float16") else str(self.dtype)

    def _add_weights(self) -> None:
        self.gamma = self._add_parameter("gamma", self.scale, 1.0)
        self.beta = self._add_parameter("beta", self.center, 0.0)
        scope = self._scope
        partitioner = scope.partitioner if scope else None
        if partitioner:
            scope.set_partitioner(None)
        try:
            self.moving_mean = self._add_moving("moving_mean", self.moving_mean_initializer)
            self.moving_variance = self._add_moving(
                "moving_variance", self.moving_variance_initializer
            )
            if self.renorm:
                self._add_renorm_weights()
        finally:
            if partitioner:
                scope.set_partitioner(partitioner)

    def _add_parameter(self, name: str, wanted: bool, neutral: float) -> Any:
        """A variable; without one, what the fused op takes instead."""
        if not wanted:
            return constant(neutral, self._param_dtype, self._param_shape) if self.fused else None
        return self.add_weight(
            name,
            shape=self._param_shape,
            dtype=self._param_dtype,
            initializer=getattr(self, f"{name}_initializer"),
            regularizer=getattr(self, f"{name}_regularizer"),
            constraint=getattr(self, f"{name}_constraint"),
            trainable=True,
        )

    def _add_moving(self, name: str, initializer: Any) -> Any:
        return self.add_weight(
            name,
            shape=self._param_shape,
            dtype=self._param_dtype,
            initializer=initializer,
            trainable=False,
            synchronization=VariableSynchronization.ON_READ,
            aggregation=VariableAggregation.MEAN,
        )

    def _move(self, variable: Any, value: Any, momentum: Any) -> Any:
        """Moves an average towards a new value."""
        with get_default_graph().name_scope("AssignMovingAvg") as scope, colocate_with(variable):
            decay = to_tensor(1.0 - momentum, name="decay")
            if decay.dtype is not variable.dtype.base:
                decay = math.cast(decay, variable.dtype.base)
            change = (variable - math.cast(value, variable.dtype.base)) * decay
            return state.assign_sub(variable, change, name=scope)

    # ---- calling

    def call(self, inputs: Any, training: Any = False) -> Any:
        if self.fused:
            return self._fused(inputs, training)
        if self.virtual_batch_size is None:
            return self._plain(inputs, training)
        shape = [-1, *inputs.shape.as_list()[1:]]
        split = array.reshape(inputs, [self.virtual_batch_size, -1, *shape[1:]])
        return array.reshape(self._plain(split, training), shape)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def _fused(self, inputs: Any, training: Any) -> Any:
        """By one op, for images."""

        def normalize(**statistics: Any) -> Any:
            return normalization.fused_batch_norm(
                inputs, self.gamma, self.beta, epsilon=self.epsilon,
                data_format=self._data_format, **statistics,
            )  # fmt: skip

        def by_averages() -> Any:
            mean, variance = self.moving_mean, self.moving_variance
            return normalize(mean=mean, variance=variance, is_training=False)

        output, mean, variance = smart_cond(training, normalize, by_averages)
        truth = known_truth(training)
        if truth is None:
            momentum = smart_cond(training, lambda: self.momentum, lambda: 1.0)
        else:
            momentum = to_tensor(self.momentum)
        if truth is not False:
            self.add_update(lambda: self._move(self.moving_mean, mean, momentum))
            self.add_update(lambda: self._move(self.moving_variance, variance, momentum))
        return output

    def _plain(self, inputs: Any, training: Any) -> Any:
        """By ops of arithmetic, along any axes."""
        rank = len(inputs.shape)
        axes = [i for i in range(rank) if i not in self.axis]
        if self.virtual_batch_size is not None:
            del axes[1]
        broadcast_shape = [1] * rank
        broadcast_shape[self.axis[0]] = inputs.shape[self.axis[0]].value

        def broadcast(v: Any) -> Any:
            fits = v is None or len(v.shape) == rank or axes == list(range(rank - 1))
            return v if fits else array.reshape(v, broadcast_shape)

        scale, offset = broadcast(self.gamma), broadcast(self.beta)
        if known_truth(training) is False:
            mean, variance = self.moving_mean, self.moving_variance
        else:
            scale, offset = self._adjusted(inputs, training, scale, offset)
            mean, variance = self._moments(inputs, axes, training)
            new_mean, new_variance = mean, variance
            if self.virtual_batch_size is not None:
                new_mean = math.reduce_mean(mean, axis=1, keepdims=True)
                new_variance = math.reduce_mean(variance, axis=1, keepdims=True)
            if self.renorm:
                r, d, new_mean, new_variance = self._correction(new_mean, new_variance, training)
                r = broadcast(array.stop_gradient(r, name="renorm_r"))
                d = broadcast(array.stop_gradient(d, name="renorm_d"))
                scale, offset = _composed(r, d, scale, offset)
            self._add_moves(training, new_mean, new_variance)
        mean, variance, offset, scale = (
            None if v is None else math.cast(v, inputs.dtype)
            for v in (mean, variance, offset, scale)
        )
        outputs = normalization.batch_normalization(
            inputs, broadcast(mean), broadcast(variance), offset, scale, self.epsilon
        )
        outputs.set_shape(inputs.shape)
        return outputs

    def _adjusted(self, inputs: Any, training: Any, scale: Any, offset: Any) -> tuple[Any, Any]:
        """Scale and offset after the user's `adjustment` of them, which holds while training."""
        if not self.adjustment:
            return scale, offset
        by, plus = self.adjustment(array.shape(inputs))
        by = smart_cond(training, lambda: by, lambda: array.ones_like(by))
        plus = smart_cond(training, lambda: plus, lambda: array.zeros_like(plus))
        return _composed(by, plus, scale, offset)

    def _moments(self, inputs: Any, axes: list[int], training: Any) -> tuple[Any, Any]:
        """Mean and variance: of the batch while training, else the averages."""
        keep = self.virtual_batch_size is not None or len(self.axis) > 1
        mean, variance = normalization.moments(
            math.cast(inputs, self._param_dtype), axes, keep_dims=keep
        )
        averages = self.moving_mean, self.moving_variance
        return (
            smart_cond(training, lambda: mean, lambda: to_tensor(averages[0])),
            smart_cond(training, lambda: variance, lambda: to_tensor(averages[1])),
        )

    def _add_moves(self, training: Any, mean: Any, variance: Any) -> None:
        def move_mean() -> Any:
            return smart_cond(
                training,
                lambda: self._move(self.moving_mean, mean, self.momentum),
                lambda: self.moving_mean,
            )

        def move_variance() -> Any:
            def move() -> Any:
                if self.renorm:
                    return self._move_by_stddev(variance)
                return self._move(self.moving_variance, variance, self.momentum)

            return smart_cond(training, move, lambda: self.moving_variance)

        self.add_update(move_mean)
        self.add_update(move_variance)


def _composed(scale: Any, offset: Any, then_scale: Any, then_offset: Any) -> tuple[Any, Any]:
    """The scale and offset of two transforms, one after the other."""
    if then_scale is not None:
        scale = scale * then_scale
        offset = offset * then_scale
    if then_offset is not None:
        offset = offset + then_offset
    return scale, offset


def batch_normalization(
    inputs: Any,
    axis: Any = -1,
    momentum: float = 0.99,
    epsilon: float = 1e-3,
    center: bool = True,
    scale: bool = True,
    beta_initializer: Any = _ZEROS,
    gamma_initializer: Any = _ONES,
    moving_mean_initializer: Any = _ZEROS,
    moving_variance_initializer: Any = _ONES,
    beta_regularizer: Any = None,
    gamma_regularizer: Any = None,
    beta_constraint: Any = None,
    gamma_constraint: Any = None,
    training: Any = False,
    trainable: bool = True,
    name: str | None = None,
    reuse: Any = None,
    renorm: bool = False,
    renorm_clipping: dict[str, Any] | None = None,
    renorm_momentum: float = 0.99,
    fused: bool | None = None,
    virtual_batch_size: int | None = None,
    adjustment: Any = None,
) -> Any:
    """The outputs of a new BatchNormalization layer for `inputs`."""
    options = dict(locals())
    for own in ("inputs", "training", "reuse"):
        del options[own]
    layer = BatchNormalization(**options, _reuse=reuse, _scope=name)
    return layer.apply(inputs, training=training)
