"""Batch renormalization: the part of BatchNormalization that corrects a batch by averages."""

from __future__ import annotations

from typing import Any

from minitf.default import colocate_with, control_dependencies, get_default_graph
from minitf.layers.arguments import initializer_of, smart_cond
from minitf.ops import array, math, nn, state


class Renorm:
    """Renormalization, for a class that has the moving averages and `_move`."""

    renorm: bool
    moving_mean: Any
    moving_variance: Any
    moving_mean_initializer: Any
    moving_variance_initializer: Any
    momentum: float
    epsilon: float

    def _settle_renorm(self, renorm: bool, clipping: Any, momentum: float) -> None:
        """Raises ValueError for unknown keys of renorm_clipping."""
        self.renorm = renorm
        self.renorm_clipping = clipping or {}
        self.renorm_momentum = momentum
        keys = ["rmax", "rmin", "dmax"]
        if renorm and set(self.renorm_clipping) - set(keys):
            raise ValueError(f"renorm_clipping {self.renorm_clipping} contains keys not in {keys}")

    def _add_moving(self, name: str, initializer: Any) -> Any:
        raise NotImplementedError

    def _move(self, variable: Any, value: Any, momentum: Any) -> Any:
        raise NotImplementedError

    def _add_renorm_weights(self) -> None:
        variance_initializer = initializer_of(self.moving_variance_initializer)

        def stddev_initializer(*args: Any, **kwargs: Any) -> Any:
            return math.sqrt(variance_initializer(*args, **kwargs))

        with colocate_with(self.moving_variance):
            self.moving_stddev = self._add_moving("moving_stddev", stddev_initializer)
        with colocate_with(self.moving_mean):
            self.renorm_mean = self._add_moving("renorm_mean", self.moving_mean_initializer)
        with colocate_with(self.moving_stddev):
            self.renorm_stddev = self._add_moving("renorm_stddev", stddev_initializer)

    def _correction(self, mean: Any, variance: Any, training: Any) -> tuple[Any, Any, Any, Any]:
        """r and d of the batch, and its mean and variance once the averages have moved."""
        stddev = math.sqrt(variance + self.epsilon)
        average_stddev = math.maximum(self.renorm_stddev, math.sqrt(self.epsilon))
        r = stddev / average_stddev
        d = (mean - self.renorm_mean) / average_stddev
        with control_dependencies([r, d]):
            mean = array.identity(mean)
            stddev = array.identity(stddev)
        r, d = self._clipped(r, d)
        r = smart_cond(training, lambda: r, lambda: array.ones_like(r))
        d = smart_cond(training, lambda: d, lambda: array.zeros_like(d))
        moved_mean = self._move_while(training, self.renorm_mean, mean)
        moved_stddev = self._move_while(training, self.renorm_stddev, stddev)
        with control_dependencies([moved_mean, moved_stddev]):
            return r, d, array.identity(mean), array.identity(variance)

    def _clipped(self, r: Any, d: Any) -> tuple[Any, Any]:
        rmin, rmax, dmax = (self.renorm_clipping.get(key) for key in ("rmin", "rmax", "dmax"))
        if rmin is not None:
            r = math.maximum(r, rmin)
        if rmax is not None:
            r = math.minimum(r, rmax)
        if dmax is not None:
            d = math.maximum(d, -dmax)
            d = math.minimum(d, dmax)
        return r, d

    def _move_while(self, training: Any, variable: Any, value: Any) -> Any:
        value = array.identity(value)
        return smart_cond(
            training,
            lambda: self._move(variable, value, self.renorm_momentum),
            lambda: array.identity(variable),
        )

    def _move_by_stddev(self, variance: Any) -> Any:
        """The new moving variance: the square of the moved standard deviation."""
        stddev = math.sqrt(variance + self.epsilon)
        moved = self._move(self.moving_stddev, stddev, self.momentum)
        value = nn.relu(moved * moved - self.epsilon)
        with (
            get_default_graph().name_scope("AssignNewValue") as scope,
            colocate_with(self.moving_variance),
        ):
            return state.assign(self.moving_variance, value, name=scope)
