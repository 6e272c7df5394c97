"""tf.estimator.WarmStartSettings: which variables of a model begin with those of another."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from minitf import tf_logging
from minitf.saved_model.constants import VARIABLES_DIRECTORY, VARIABLES_FILENAME
from minitf.train.checkpoint_management import checkpoint_exists
from minitf.train.warm_starting import VocabInfo


class _Settings(NamedTuple):
    ckpt_to_initialize_from: str
    vars_to_warm_start: Any
    var_name_to_vocab_info: Mapping[str, VocabInfo]
    var_name_to_prev_var_name: Mapping[str, str]


class WarmStartSettings(_Settings):
    """The arguments of tf.train.warm_start. Raises ValueError without a checkpoint."""

    __slots__ = ()

    def __new__(
        cls,
        ckpt_to_initialize_from: str,
        vars_to_warm_start: Any = ".*",
        var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
        var_name_to_prev_var_name: Mapping[str, str] | None = None,
    ) -> WarmStartSettings:
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        infos, names = var_name_to_vocab_info or {}, var_name_to_prev_var_name or {}
        return super().__new__(cls, ckpt_to_initialize_from, vars_to_warm_start, infos, names)


def settings_of(warm_start_from: Any) -> WarmStartSettings | None:
    """The settings given, or for a checkpoint or a SavedModel. Raises ValueError for others."""
    if warm_start_from is None or isinstance(warm_start_from, WarmStartSettings):
        return warm_start_from
    if not isinstance(warm_start_from, (str, bytes)):
        raise ValueError(
            "warm_start_from must be a string or a WarmStartSettings, instead got "
            f"{type(warm_start_from)}"
        )
    path = os.fsdecode(warm_start_from)
    variables = os.path.join(path, VARIABLES_DIRECTORY, VARIABLES_FILENAME)
    if checkpoint_exists(variables):
        tf_logging.info("Warm-starting from a SavedModel")
        return WarmStartSettings(variables)
    return WarmStartSettings(path)
