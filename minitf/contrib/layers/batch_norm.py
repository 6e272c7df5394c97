"""contrib's batch_norm: by the layer of tf.layers, by the fused op, or by arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from minitf.contrib.framework.arg_scope import add_arg_scope
from minitf.contrib.framework.variables import model_variable
from minitf.contrib.layers.common import (
    NCHW,
    NHWC,
    channels_of,
    check_layout,
    collect,
    collections_of,
    finished,
    layer_layout,
    variable_getter,
)
from minitf.convert import constant, to_tensor
from minitf.default import GraphKeys, add_to_collections, control_dependencies
from minitf.initializers import ones_initializer, zeros_initializer
from minitf.layers.arguments import known_truth, smart_cond
from minitf.layers.normalization import BatchNormalization
from minitf.operation import Tensor
from minitf.ops import array, normalization
from minitf.train.moving_averages import assign_moving_average
from minitf.variable_scope import get_variable_scope, variable_scope
from minitf_runtime.types import float32

_START = {
    "beta": zeros_initializer(),
    "gamma": ones_initializer(),
    "moving_mean": zeros_initializer(),
    "moving_variance": ones_initializer(),
}


@add_arg_scope
def batch_norm(
    inputs: Any,
    decay: Any = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Any = None,
    param_initializers: Any = None,
    param_regularizers: Any = None,
    updates_collections: Any = GraphKeys.UPDATE_OPS,
    is_training: Any = True,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    batch_weights: Any = None,
    fused: bool | None = None,
    data_format: str = NHWC,
    zero_debias_moving_mean: bool = False,
    scope: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_decay: float = 0.99,
    adjustment: Any = None,
) -> Tensor:
    """The inputs with mean 0 and variance 1 per channel, over the batch or by moving averages.

    The updates of the averages go to `updates_collections`; with None they run in any case while
    training, before the outputs are there. Raises ValueError.
    """
    given = SimpleNamespace(**locals())
    given.inputs = to_tensor(inputs)
    given.fused = fused is not False
    given.initializers = {**_START, **(param_initializers or {})}
    given.regularizers = param_regularizers or {}
    in_update_ops = updates_collections is GraphKeys.UPDATE_OPS
    rank = given.inputs.shape.ndims
    plain = batch_weights is None and not renorm and adjustment is None
    check_layout(data_format)
    # The layer of tf.layers fuses only where it puts the updates into UPDATE_OPS.
    beyond_layer = zero_debias_moving_mean or rank == 2 or not in_update_ops
    getter: Any = None
    if given.fused and plain and rank in (2, 4) and beyond_layer:
        normalize = _by_fused_op
    else:
        getter = variable_getter()
        by_layer = batch_weights is None and in_update_ops and not zero_debias_moving_mean
        normalize = _by_layer if by_layer else _by_arithmetic
    with variable_scope(
        scope, "BatchNorm", [given.inputs], reuse=reuse, custom_getter=getter
    ) as given.scope:
        outputs = normalize(given)
        return finished(outputs, activation_fn, outputs_collections, given.scope.name)


def _by_layer(given: SimpleNamespace) -> Tensor:
    starts = {f"{name}_initializer": value for name, value in given.initializers.items()}
    layer = BatchNormalization(
        axis=1 if layer_layout(given.data_format) == "channels_first" else -1,
        momentum=given.decay,
        epsilon=given.epsilon,
        center=given.center,
        scale=given.scale,
        **starts,
        beta_regularizer=given.regularizers.get("beta"),
        gamma_regularizer=given.regularizers.get("gamma"),
        trainable=given.trainable,
        renorm=given.renorm,
        renorm_clipping=given.renorm_clipping,
        renorm_momentum=given.renorm_decay,
        adjustment=given.adjustment,
        name=given.scope.name,
        _scope=given.scope,
        _reuse=given.reuse,
        fused=given.fused,
    )
    outputs = layer.apply(given.inputs, training=given.is_training)
    wanted = {"moving_mean": True, "moving_variance": True, "beta": given.center}
    for name in [*(n for n, there in wanted.items() if there), *["gamma"] * bool(given.scale)]:
        collect(getattr(layer, name), given.variables_collections, name)
    return outputs  # type: ignore[no-any-return]


def _by_fused_op(given: SimpleNamespace) -> Tensor:
    """By the op for images; rows of numbers are images of one pixel."""
    inputs = given.inputs
    channels = channels_of(inputs, given.data_format)
    flat = inputs.shape.ndims == 2
    if flat:
        pixel = [-1, channels, 1, 1] if given.data_format == NCHW else [-1, 1, 1, channels]
        inputs = array.reshape(inputs, pixel)
    averages = _Averages(given, channels, float32, neutral=True)

    def normalize(**statistics: Any) -> Any:
        return normalization.fused_batch_norm(
            inputs,
            averages.gamma,
            averages.beta,
            epsilon=given.epsilon,
            data_format=given.data_format,
            **statistics,
        )

    outputs, mean, variance = smart_cond(
        given.is_training,
        normalize,
        lambda: normalize(mean=averages.mean, variance=averages.variance, is_training=False),
    )
    if known_truth(given.is_training) is not False:
        if given.updates_collections is None:
            outputs = smart_cond(
                given.is_training,
                lambda: averages.moved_before(mean, variance, outputs)[0],
                lambda: outputs,
            )
        else:
            averages.move_later(mean, variance)
    outputs.set_shape(inputs.shape)
    return array.reshape(outputs, array.shape(given.inputs)) if flat else outputs


def _by_arithmetic(given: SimpleNamespace) -> Tensor:
    if given.renorm:
        raise ValueError(
            "renorm is not supported with batch_weights, updates_collections or "
            "zero_debias_moving_mean"
        )
    inputs, first = given.inputs, given.data_format == NCHW
    channels = channels_of(inputs, given.data_format)
    rank = inputs.shape.ndims
    weights = given.batch_weights
    if weights is not None:
        weights = to_tensor(weights)
        inputs.shape[0:1].assert_is_compatible_with(weights.shape)
        weights = array.reshape(weights, [-1] + [1] * (rank - 1))
    averages = _Averages(given, channels, inputs.dtype.base)
    mean, variance = averages.mean, averages.variance
    if known_truth(given.is_training) is not False:
        axes = [0, *range(2, rank)] if first else list(range(rank - 1))
        mean, variance = averages.moved(*_moments(inputs, axes, weights, first))
    values = mean, variance, averages.beta, averages.gamma
    if first:
        shape = [1, channels] + [1] * (rank - 2)
        values = tuple(None if v is None else array.reshape(v, shape) for v in values)
    outputs = normalization.batch_normalization(inputs, *values, given.epsilon)
    outputs.set_shape(inputs.shape)
    return outputs


def _moments(inputs: Tensor, axes: list[int], weights: Any, first: bool) -> tuple[Any, Any]:
    if weights is None:
        mean, variance = normalization.moments(inputs, axes, keep_dims=first)
    else:
        mean, variance = normalization.weighted_moments(inputs, axes, weights, keepdims=first)
    if first:
        return array.reshape(mean, [-1]), array.reshape(variance, [-1])
    return mean, variance


class _Averages:
    """The variables of one batch_norm, and how they move towards a batch's mean and variance.

    Instead of a beta or gamma that is not wanted there is None, or a `neutral` constant.
    """

    def __init__(
        self, given: SimpleNamespace, channels: int, dtype: Any, neutral: bool = False
    ) -> None:
        self._given = given

        def make(name: str, trainable: bool, regularizer: Any = None) -> Any:
            return model_variable(
                name,
                shape=[channels],
                dtype=dtype,
                initializer=given.initializers[name],
                regularizer=regularizer,
                collections=collections_of(given.variables_collections, name),
                trainable=trainable,
            )

        def parameter(name: str, wanted: bool, value: float) -> Any:
            if wanted:
                regularizer = given.regularizers.get(name) if neutral else None
                return make(name, given.trainable, regularizer)
            return constant(value, dtype, [channels]) if neutral else None

        self.beta = parameter("beta", given.center, 0.0)
        self.gamma = parameter("gamma", given.scale, 1.0)
        with variable_scope(get_variable_scope()) as scope:
            scope.set_partitioner(None)  # a moving average is in one piece
            self.mean = make("moving_mean", False)
            self.variance = make("moving_variance", False)

    def _move(self, mean: Any, variance: Any) -> tuple[Any, Any]:
        given = self._given
        return (
            assign_moving_average(
                self.mean, mean, given.decay, zero_debias=given.zero_debias_moving_mean
            ),
            assign_moving_average(self.variance, variance, given.decay, zero_debias=False),
        )

    def moved_before(self, mean: Any, variance: Any, *values: Any) -> tuple[Tensor, ...]:
        """The values, available after the averages have moved."""
        with control_dependencies(self._move(mean, variance)):
            return tuple(array.identity(value) for value in values)

    def _while_training(self, then: Callable[[], Any]) -> Any:
        return smart_cond(self._given.is_training, then, lambda: (self.mean, self.variance))

    def move_later(self, mean: Any, variance: Any) -> None:
        """Puts the updates into their collections."""
        for update in self._while_training(lambda: self._move(mean, variance)):
            add_to_collections(self._given.updates_collections, update)

    def moved(self, mean: Any, variance: Any) -> Any:
        """Mean and variance to normalize with: of the batch while training, else the averages."""
        if self._given.updates_collections is None:
            return self._while_training(lambda: self.moved_before(mean, variance, mean, variance))
        self.move_later(mean, variance)
        return self._while_training(lambda: (mean, variance))
