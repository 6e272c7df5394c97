"""tf.train.warm_start: variables of a new model that begin with those of an old one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from minitf import tf_logging
from minitf.default import GraphKeys, get_collection
from minitf.train.init_from_checkpoint import init_from_checkpoint
from minitf.variables import Variable
from minitf_runtime.errors import UnimplementedError


class VocabInfo(NamedTuple):
    """How the rows of a variable were numbered. warm_start does not renumber them here."""

    new_vocab: str
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: str
    old_vocab_size: int = -1
    backup_initializer: Any = None
    axis: int = 0


def warm_start(
    ckpt_to_initialize_from: str,
    vars_to_warm_start: Any = ".*",
    var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
    var_name_to_prev_var_name: Mapping[str, str] | None = None,
) -> None:
    """Makes the initializers of variables read a checkpoint (TF: warm_start).

    Which: a pattern for trainable variables, a list of patterns for all, or variables. Raises
    ValueError for a name that is not used, UnimplementedError for vocabularies.
    """
    if var_name_to_vocab_info:
        raise UnimplementedError(
            None, None, f"warm_start with the vocabularies of {sorted(var_name_to_vocab_info)}"
        )
    tf_logging.info("Warm-starting from: %s", ckpt_to_initialize_from)
    renamed = var_name_to_prev_var_name or {}
    variables = _by_name(_chosen(vars_to_warm_start))
    if vars_to_warm_start:
        sources = {
            renamed.get(name, name): parts[0] if len(parts) == 1 else parts
            for name, parts in variables.items()
        }
        init_from_checkpoint(ckpt_to_initialize_from, sources)
        tf_logging.info("Warm-started %d variables.", len(sources))
    unused = set(renamed) - set(variables)
    if unused:
        raise ValueError(
            "You provided the following variables in var_name_to_prev_var_name that were not "
            f"used: {unused}.  Perhaps you misspelled them?  Here is the list of viable variable "
            f"names: {list(variables)}"
        )


def _chosen(which: Any) -> list[Variable]:
    if which is None or isinstance(which, str):
        tf_logging.info("Warm-starting variables only in TRAINABLE_VARIABLES.")
        return get_collection(GraphKeys.TRAINABLE_VARIABLES, which)
    if not isinstance(which, list):
        raise ValueError(
            f"`vars_to_warm_start must be a `list` or `str`.  Given type is {type(which)}"
        )
    if all(isinstance(v, str) for v in which):
        return [v for p in which for v in get_collection(GraphKeys.GLOBAL_VARIABLES, p)]
    if all(isinstance(v, Variable) for v in which):
        return which
    raise ValueError(
        "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types "
        f"are {[type(v) for v in which]}"
    )


def _by_name(variables: list[Variable]) -> dict[str, list[Variable]]:
    """The variables by their names in a checkpoint: the parts of one under its full name."""
    found: dict[str, list[Variable]] = {}
    for variable in variables:
        info = variable._get_save_slice_info()
        found.setdefault(info.full_name if info else variable.op.name, []).append(variable)
    return found
