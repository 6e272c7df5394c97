"""`import tensorflow` as minitf, for programs that are run as they are.

A module that minitf has under the same path is that module. Below `tensorflow.python`, which is
TensorFlow's inside, a module offers the public names: programs take ops from there by habit.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import minitf

ALIAS = "tensorflow"
_INSIDE = {  # the folders and modules of TensorFlow 1.15's inside that hold public things
    "": "client framework layers lib ops platform saved_model summary training util",
    "client": "session",
    "framework": "common_shapes constant_op device dtypes errors errors_impl function graph_util"
    " graph_util_impl importer ops random_seed smart_cond sparse_tensor",
    "layers": "base convolutional core layers normalization pooling",
    "lib": "io",
    "lib.io": "file_io tf_record",
    "ops": "array_ops bitwise_ops candidate_sampling_ops check_ops clip_ops confusion_matrix"
    " control_flow_ops ctc_ops custom_gradient data_flow_ops embedding_ops functional_ops"
    " gen_array_ops gen_data_flow_ops gen_math_ops gen_nn_ops gen_state_ops gradients"
    " gradients_impl histogram_ops image_ops init_ops io_ops linalg_ops logging_ops lookup_ops"
    " losses map_fn math_ops metrics nn nn_impl nn_ops parsing_ops partitioned_variables random_ops"
    " resource_variable_ops rnn rnn_cell rnn_cell_impl sparse_ops special_math_ops standard_ops"
    " state_ops string_ops template tensor_array_ops variable_scope variables",
    "platform": "app flags gfile test tf_logging",
    "saved_model": "builder loader signature_constants signature_def_utils tag_constants utils",
    "training": "adadelta adagrad adam basic_session_run_hooks checkpoint_management"
    " checkpoint_utils coordinator device_setter ftrl gradient_descent input learning_rate_decay"
    " momentum monitored_session moving_averages optimizer queue_runner rmsprop saver server_lib"
    " session_manager session_run_hook slot_creator supervisor sync_replicas_optimizer training"
    " training_util",
    "util": "compat nest",
}
_OWN = "app compat errors flags gfile losses metrics nest nn test".split()  # public by that name
_SPACES = ["", *"nn nn.rnn_cell math train layers random strings sparse errors io".split()]


def install() -> Callable[[], None]:
    """From now on `import tensorflow` gives minitf, even where TensorFlow is installed.

    Gives the function that undoes it.
    """
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_alias(name)}
    finder = _Finder()
    sys.meta_path.insert(0, finder)

    def undo() -> None:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if _is_alias(name)]:
            del sys.modules[name]
        sys.modules.update(before)

    return undo


def _is_alias(name: str) -> bool:
    return name.partition(".")[0] == ALIAS


class _Finder(MetaPathFinder, Loader):
    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(fullname, self, is_package=True) if _is_alias(fullname) else None

    def exec_module(self, module: ModuleType) -> None:
        """Puts the module that is meant where Python looks for the one that was asked for."""
        sys.modules[module.__name__] = _named(module.__name__)


def _named(alias: str) -> ModuleType:
    """The module by that name. Raises ModuleNotFoundError."""
    path = alias.partition(".")[2].removeprefix("compat.v1").strip(".")
    if path == "python" or path.startswith("python.") and _is_inside(path[7:]):
        return _Inside(alias)
    found = _module(path)
    if found is None:
        raise ModuleNotFoundError(f"No module named {alias!r}: minitf has no tf.{path}", name=alias)
    return found


def _is_inside(path: str) -> bool:
    folder, _, name = path.rpartition(".")
    return name in _INSIDE.get(folder, "").split()


def _module(path: str) -> ModuleType | None:
    if not path:
        return minitf
    try:
        return importlib.import_module(f"minitf.{path}")
    except ModuleNotFoundError as e:
        if not f"minitf.{path}.".startswith(f"{e.name}."):
            raise  # the module is there; what it needs is not
    found = _attribute(minitf, path)
    return found if isinstance(found, ModuleType) else None


class _Inside(ModuleType):
    """A module of TensorFlow's inside: whatever is public, by its public name."""

    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        own = [space for space in _OWN if self.__name__.endswith(f".{space}")]
        for space in own + _SPACES:
            found = _attribute(minitf, f"{space}.{name}".strip("."))
            if found is not None and not isinstance(found, ModuleType):
                return found
        raise AttributeError(f"minitf has no public tf.{name}, so {self.__name__} has none either")


def _attribute(thing: Any, path: str) -> Any:
    for name in path.split("."):
        thing = getattr(thing, name, None)
    return thing
