"""A model_fn with its parameters and settings: it builds graphs to train, evaluate or predict."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from minitf import tf_logging
from minitf.default import device
from minitf.estimator import input_fn as inputs
from minitf.estimator.arguments import argument_names, matching
from minitf.estimator.run_config import RunConfig
from minitf.estimator.spec import EstimatorSpec
from minitf.estimator.warm_start import WarmStartSettings
from minitf.ops.random import set_random_seed
from minitf.train.global_step import create_global_step
from minitf.train.warm_starting import warm_start

_ARGUMENTS = {"features", "labels", "mode", "params", "self", "config"}


class Model:
    """Raises ValueError for a model_fn with other arguments than these, or without `features`."""

    def __init__(
        self,
        model_fn: Callable[..., EstimatorSpec],
        params: Any,
        config: RunConfig,
        warm_start_settings: WarmStartSettings | None,
    ) -> None:
        _check_arguments(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy(params or {})
        self._config = config
        self.warm_start_settings = warm_start_settings

    @property
    def params(self) -> Any:
        return copy.deepcopy(self._params)

    @property
    def config(self) -> RunConfig:
        return copy.deepcopy(self._config)

    def begin(self) -> None:
        """What every graph begins with: the seed and the global step."""
        set_random_seed(self._config.tf_random_seed)
        create_global_step()

    def inputs(self, input_fn: Callable[..., Any], mode: str) -> inputs.Inputs:
        """Calls an input_fn, on the CPU."""
        known = matching(input_fn, mode=mode, params=self.params, config=self.config)
        with device("/cpu:0"):
            result = input_fn(**known)
        return inputs.parse(result)

    def call(self, features: Any, labels: Any, mode: str, config: Any = None) -> EstimatorSpec:
        """Calls the model_fn. Raises ValueError for labels that it does not take, and for its
        result if it is no EstimatorSpec."""
        if labels is not None and "labels" not in argument_names(self._model_fn):
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        known = matching(
            self._model_fn,
            labels=labels,
            mode=mode,
            params=self.params,
            config=config or self.config,
        )
        tf_logging.info("Calling model_fn.")
        spec = self._model_fn(features=features, **known)
        tf_logging.info("Done calling model_fn.")
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec

    def warm_start(self) -> None:
        """Lets the variables begin with those of another model, if that was asked for."""
        if self.warm_start_settings is not None:
            tf_logging.info("Warm-starting with WarmStartSettings: %s", (self.warm_start_settings,))
            warm_start(*self.warm_start_settings)


def _check_arguments(model_fn: Callable[..., Any], params: Any) -> None:
    names = set(argument_names(model_fn))
    if "features" not in names:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in names:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is "
            "passed to Estimator."
        )
    if params is None and "params" in names:
        tf_logging.warning(
            "Estimator's model_fn (%s) includes params argument, but params are not passed to "
            "Estimator.",
            model_fn,
        )
    unknown = sorted(names - _ARGUMENTS)
    if unknown:
        raise ValueError(f"model_fn ({model_fn}) has following not expected args: {unknown}")
