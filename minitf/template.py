"""tf.make_template: a function that makes its variables when first called, and shares them then."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from minitf import tf_logging
from minitf.default import GraphKeys, get_collection_ref
from minitf.source import show, user_line
from minitf.variable_scope import VariableScope, variable_scope

__all__ = ["make_template"]


def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: str | None = None,
    custom_getter_: Callable[..., Any] | None = None,
    **kwargs: Any,
) -> Template:
    """`func_` with `kwargs` given, in a variable scope of its own, the same at every call.

    Raises ValueError without a name, and when a later call makes a trainable variable.
    """
    if kwargs:
        func_ = functools.partial(func_, **kwargs)
    return Template(name_, func_, create_scope_now_, unique_name_, custom_getter_)


class Template:
    """A function and the variable scope in which it runs."""

    def __init__(
        self,
        name: str,
        func: Callable[..., Any],
        create_scope_now: bool,
        unique_name: str | None,
        custom_getter: Callable[..., Any] | None,
    ) -> None:
        if name is None:
            raise ValueError("name cannot be None.")
        self._source = user_line()
        self._name = name
        self._func = func
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._scope: VariableScope | None = None
        self._started = False  # whether a call that did not fail has begun
        self._done = False  # whether one has ended, so that the variables are there
        if create_scope_now:
            with self._new_scope(auxiliary_name_scope=False) as self._scope:
                return

    def _new_scope(self, **options: Any) -> variable_scope:
        return variable_scope(
            self._unique_name, self._name, custom_getter=self._custom_getter, **options
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._scope is None:
            with self._new_scope() as self._scope:
                return self._call(args, kwargs)
        with variable_scope(self._scope, reuse=self._started):
            return self._call(args, kwargs)

    def _call(self, args: Any, kwargs: Any) -> Any:
        try:
            return self._call_again(args, kwargs) if self._done else self._call_first(args, kwargs)
        except Exception as e:
            text = f"{e.args[0] if e.args else ''}\n\noriginally defined at:\n{show(self._source)}"
            e.args = (text, *e.args[1:])
            raise

    def _call_first(self, args: Any, kwargs: Any) -> Any:
        outer, self._started = self._started, True
        try:
            result = self._func(*args, **kwargs)
        except BaseException:
            self._started = outer
            raise
        self._done = True
        return result

    def _call_again(self, args: Any, kwargs: Any) -> Any:
        known = get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
        trained = get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
        n_known, n_trained = len(known), len(trained)
        result = self._func(*args, **kwargs)
        if len(trained) != n_trained:
            raise ValueError(
                "Trainable variable created when calling a template after the first time, perhaps "
                f"you used tf.Variable when you meant tf.get_variable: {trained[n_trained:]}"
            )
        if len(known) != n_known:
            tf_logging.info(
                "New variables created when calling a template after the first time, perhaps you "
                "used tf.Variable when you meant tf.get_variable: %s",
                known[n_known:],
            )
        return result

    @property
    def name(self) -> str:
        return self._name

    @property
    def func(self) -> Callable[..., Any]:
        return self._func

    @property
    def variable_scope(self) -> VariableScope | None:
        return self._scope

    var_scope = variable_scope

    @property
    def variable_scope_name(self) -> str | None:
        """The prefix of the variables' names; None before the scope is there."""
        if self._scope is None:
            return None
        return f"{self._scope.name}/" if self._scope.name else ""

    def _collection(self, name: str) -> list[Any]:
        return self._scope.get_collection(name) if self._done and self._scope else []

    @property
    def global_variables(self) -> list[Any]:
        return self._collection(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Any]:
        return self._collection(GraphKeys.LOCAL_VARIABLES)

    @property
    def trainable_variables(self) -> list[Any]:
        return self._collection(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def variables(self) -> list[Any]:
        return self.global_variables + self.local_variables

    @property
    def non_trainable_variables(self) -> list[Any]:
        trained = set(self.trainable_variables)
        return [v for v in self.global_variables if v not in trained]

    weights = variables
    trainable_weights = trainable_variables
    non_trainable_weights = non_trainable_variables
