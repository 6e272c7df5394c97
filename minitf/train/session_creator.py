"""SessionCreators: how a monitored session gets its session, on the chief and on other workers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from minitf.default import get_default_graph
from minitf.session import Session
from minitf.train.scaffold import Scaffold
from minitf.train.session_manager import SessionManager


class SessionCreator(ABC):
    """Makes sessions, a new one after each lost one."""

    @abstractmethod
    def create_session(self) -> Session: ...


class ChiefSessionCreator(SessionCreator):
    """Restores or initializes the variables (TF: train.ChiefSessionCreator)."""

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        self._scaffold = scaffold or Scaffold()
        self._master = master
        self._config = config
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename = checkpoint_filename_with_path
        self._manager: SessionManager | None = None

    def create_session(self) -> Session:
        self._scaffold.finalize()
        self._manager = self._manager or _manager(self._scaffold)
        return self._manager.prepare_session(
            self._master,
            saver=self._scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename,
            config=self._config,
            init_op=self._scaffold.init_op,
            init_feed_dict=self._scaffold.init_feed_dict,
            init_fn=self._scaffold.init_fn,
        )


class WorkerSessionCreator(SessionCreator):
    """Waits until the chief has initialized the variables (TF: train.WorkerSessionCreator)."""

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        max_wait_secs: float = 30 * 60,
    ) -> None:
        self._scaffold = scaffold or Scaffold()
        self._master = master
        self._config = config
        self._max_wait_secs = max_wait_secs
        self._manager: SessionManager | None = None

    def create_session(self) -> Session:
        self._scaffold.finalize()
        self._manager = self._manager or _manager(self._scaffold)
        return self._manager.wait_for_session(
            self._master, config=self._config, max_wait_secs=self._max_wait_secs
        )


def _manager(scaffold: Scaffold) -> SessionManager:
    return SessionManager(
        local_init_op=scaffold.local_init_op,
        ready_op=scaffold.ready_op,
        ready_for_local_init_op=scaffold.ready_for_local_init_op,
        graph=get_default_graph(),
    )
