"""tf.train.init_from_checkpoint: variables that begin with values from a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from minitf import gfile, tf_logging
from minitf.default import device
from minitf.ops.apply import apply_op
from minitf.train.checkpoint_management import latest_checkpoint
from minitf.train.checkpoint_reader import load_checkpoint
from minitf.train.saveable import saveables_of
from minitf.variables import Variable
from minitf.variables.scopes import scope_state

Variables = Variable | list[Any]  # one, or the parts of a partitioned one


def init_from_checkpoint(ckpt_dir_or_file: str, assignment_map: Mapping[str, Any]) -> None:
    """Makes the initializers of variables read the checkpoint (TF: init_from_checkpoint).

    The map goes from names there, or 'scope/', to variables, their names, lists of the parts of
    one, or 'scope/'. Raises ValueError for a tensor that is not there or has another shape.
    """
    path = ckpt_dir_or_file
    if gfile.IsDirectory(path):
        path = latest_checkpoint(path) or ""
    shapes = load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map()
    for tensor_name, wanted in sorted(assignment_map.items(), key=lambda item: item[0]):
        found = _variables(wanted)
        if found is None:
            pairs = _in_scope(wanted, tensor_name, shapes, ckpt_dir_or_file)
        else:
            _check(found, tensor_name, shapes, ckpt_dir_or_file)
            pairs = [(found, tensor_name)]
        for variables, name in pairs:
            _initialize(variables, path, name)
            tf_logging.debug("Initialize variable %s from checkpoint %s", name, path)


def _variables(wanted: Any) -> Variables | None:
    """The variables given, or those of that full name; None for a scope."""
    if not isinstance(wanted, str):
        return wanted  # type: ignore[no-any-return]
    known = scope_state().variables
    if wanted in known:
        return known[wanted]  # type: ignore[no-any-return]
    parts = []
    while f"{wanted}/part_{len(parts)}" in known:
        parts.append(known[f"{wanted}/part_{len(parts)}"])
    return parts or None


def _check(variables: Variables, name: str, shapes: dict[str, Any], where: str) -> None:
    if name not in shapes:
        raise ValueError(f"Tensor {name} is not found in {where} checkpoint {shapes}")
    if isinstance(variables, Variable) and not variables.shape.is_compatible_with(shapes[name]):
        raise ValueError(
            f"Shape of variable {variables.name} ({variables.shape}) doesn't match with shape of "
            f"tensor {name} ({shapes[name]}) from checkpoint reader."
        )


def _in_scope(
    scope: str, tensor_scope: str, shapes: dict[str, Any], where: str
) -> list[tuple[Variables, str]]:
    """The variables of a scope, each with the tensor of the other scope. Raises ValueError."""
    inside = scope.rpartition("/")[0]
    if not tensor_scope.endswith("/"):
        raise ValueError(
            f"Assignment map with scope only name {inside} should map to scope only "
            f"{tensor_scope}. Should be 'scope/': 'other_scope/'."
        )
    prefix = f"{inside}/" if inside else ""
    names = {n.partition("/part_")[0] for n in scope_state().variables if n.startswith(prefix)}
    pairs = []
    for name in sorted(names):
        rest = name.removeprefix(prefix)
        tensor_name = rest if tensor_scope == "/" else tensor_scope + rest
        if tensor_name not in shapes:
            raise ValueError(
                f"Tensor {tensor_name} ({rest} in {tensor_scope}) is not found in {where} "
                "checkpoint"
            )
        found = _variables(name)
        assert found is not None
        pairs.append((found, tensor_name))
    return pairs


def _initialize(variables: Variables, path: str, tensor_name: str) -> None:
    if isinstance(variables, Variable):
        _read(variables, path, tensor_name, "")
        return
    infos = [v._get_save_slice_info() for v in variables]
    for variable, info in zip(variables, infos):
        if info.full_name != infos[0].full_name:
            raise ValueError(
                f"Slices must all be from the same tensor: {infos[0].full_name} != {info.full_name}"
            )
        _read(variable, path, tensor_name, info.spec)


def _read(variable: Any, path: str, tensor_name: str, slice_spec: str) -> None:
    """Makes the variable's initializer assign that tensor, or slice of it."""
    with device(variable.device), device("/cpu:0"):
        (value,) = apply_op(
            "RestoreV2",
            path,
            [tensor_name],
            [slice_spec],
            dtypes=[variable.dtype.base],
            name="checkpoint_initializer",
        )
        (saveable,) = saveables_of([variable])
    variable.initializer = saveable.restore([value], restored_shapes=None)
    value.set_shape(variable.shape)
    variable.initial_value = value
