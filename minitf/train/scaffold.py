"""tf.train.Scaffold: the ops and the saver that every training graph needs, made if missing."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from minitf import tf_logging
from minitf.convert import constant
from minitf.default import (
    GraphKeys,
    add_to_collection,
    device,
    get_collection,
    get_default_graph,
    name_scope,
)
from minitf.operation import Operation, Tensor
from minitf.ops import array
from minitf.ops.group import group, no_op
from minitf.ops.tables import tables_initializer
from minitf.summary.ops import merge_all
from minitf.train.saver import Saver
from minitf.variables import (
    global_variables,
    global_variables_initializer,
    local_variables_initializer,
    report_uninitialized_variables,
)
from minitf_runtime.types import string


class Scaffold:
    """Holds them; what is not given is taken from its collection or made by finalize().

    `init_fn(scaffold, session)` is called after `init_op`.
    """

    def __init__(
        self,
        init_op: Any = None,
        init_feed_dict: Any = None,
        init_fn: Callable[[Scaffold, Any], Any] | None = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        local_init_op: Any = None,
        summary_op: Any = None,
        saver: Any = None,
        copy_from_scaffold: Scaffold | None = None,
    ) -> None:
        other = copy_from_scaffold
        if other is not None and not isinstance(other, Scaffold):
            raise TypeError("copy_from_scaffold is not a Scaffold instance.")

        def given(own: Any, name: str) -> Any:
            return getattr(other, name) if own is None and other is not None else own

        self.init_op = given(init_op, "init_op")
        self.init_feed_dict = given(init_feed_dict, "init_feed_dict")
        self._user_init_fn = given(init_fn, "_user_init_fn")
        self.ready_op = given(ready_op, "ready_op")
        self.ready_for_local_init_op = given(ready_for_local_init_op, "ready_for_local_init_op")
        self.local_init_op = given(local_init_op, "local_init_op")
        self.summary_op = given(summary_op, "summary_op")
        self.saver = given(saver, "saver")

    @property
    def init_fn(self) -> Callable[[Any], Any] | None:
        """What to call with the session after init_op, or None."""
        user = self._user_init_fn
        return (lambda session: user(self, session)) if user else None

    def finalize(self) -> Scaffold:
        """Makes what is missing and finalizes the default graph. Raises RuntimeError."""
        with get_default_graph().role_scope("init"):
            self._make_ops()
        if self.saver is None:
            self.saver = _saver_or_default()
        self.saver.build()
        get_default_graph().finalize()
        tf_logging.info("Graph was finalized.")
        return self

    def _make_ops(self) -> None:
        for name, key, make in (
            ("init_op", GraphKeys.INIT_OP, _default_init_op),
            ("ready_op", GraphKeys.READY_OP, _default_ready_op),
            (
                "ready_for_local_init_op",
                GraphKeys.READY_FOR_LOCAL_INIT_OP,
                _default_ready_for_local_init_op,
            ),
            ("local_init_op", GraphKeys.LOCAL_INIT_OP, self.default_local_init_op),
            ("summary_op", GraphKeys.SUMMARY_OP, merge_all),
        ):
            if getattr(self, name) is None:
                setattr(self, name, self.get_or_default(name, key, make))

    @staticmethod
    def get_or_default(
        arg_name: str, collection_key: str, default_constructor: Callable[[], Any]
    ) -> Any:
        """The only element of a collection, else a new one. Raises RuntimeError for several."""
        elements = get_collection(collection_key)
        if len(elements) > 1:
            raise RuntimeError(
                f'More than one item in the collection "{collection_key}". Please indicate which '
                "one to use by passing it to the tf.Scaffold constructor as:  "
                f"tf.Scaffold({arg_name}=item to use)"
            )
        if elements:
            return elements[0]
        made = default_constructor()
        if made is not None:
            add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Operation:
        """Initializes local variables and tables."""
        return group(local_variables_initializer(), tables_initializer(), no_op(name="init"))


# Besides variables, TF has "resources" with an initializer of their own (tables of boosted trees
# and the like). minitf has none, but keeps the ops that stand for them.


def _default_init_op() -> Operation:
    return group(global_variables_initializer(), no_op(name="init"))


def _default_ready_op() -> Tensor:
    return array.concat([report_uninitialized_variables(), _uninitialized_resources()], 0)


def _default_ready_for_local_init_op() -> Tensor:
    missing = report_uninitialized_variables(global_variables())
    return array.concat([missing, _uninitialized_resources()], 0)


def _uninitialized_resources() -> Tensor:
    where = os.environ.get("TF_DEVICE_FOR_UNINITIALIZED_VARIABLE_REPORTING", "/cpu:0")
    with name_scope("report_uninitialized_resources"), device(where):
        return constant([], dtype=string)


def _saver_or_default() -> Any:
    """The saver of the collection, else a sharded one of all variables. Raises RuntimeError."""
    savers = get_collection(GraphKeys.SAVERS)
    if len(savers) > 1:
        raise RuntimeError(
            f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to "
            "use by passing it to the constructor."
        )
    if savers:
        return savers[0]
    saver = Saver(sharded=True, allow_empty=True)
    add_to_collection(GraphKeys.SAVERS, saver)
    return saver
