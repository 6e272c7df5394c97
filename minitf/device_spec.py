"""tf.DeviceSpec: a possibly partial device name as an object that can be changed."""

from __future__ import annotations

from typing import Any

from minitf_runtime.devices.name import DeviceName, parse_requested


class DeviceSpec:
    """The fields of a device name; None where a field is not set (TF: DeviceSpec)."""

    def __init__(
        self,
        job: Any = None,
        replica: Any = None,
        task: Any = None,
        device_type: Any = None,
        device_index: Any = None,
    ) -> None:
        self.job: str | None = None if job is None else str(job)
        self.replica: int | None = _int_or_none(replica)
        self.task: int | None = _int_or_none(task)
        self.device_type: str | None = _type_or_none(device_type)
        self.device_index: int | None = _int_or_none(device_index)

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """Raises ValueError for text that is no device name."""
        return cls().parse_from_string(spec)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Takes all fields from the text."""
        self._take(parse_requested(spec or ""))
        return self

    def to_string(self) -> str:
        return str(self._name())

    def merge_from(self, dev: DeviceSpec) -> None:
        """Takes the fields that are set in `dev`."""
        self._take(self._name().override(dev._name()))

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """A new spec of both, the fields of `dev` winning."""
        made = type(self)()
        made._take(self._name().override(dev._name()))
        return made

    def replace(self, **fields: Any) -> DeviceSpec:
        """A new spec with some fields changed."""
        return type(self)(**{**vars(self), **fields})

    def _name(self) -> DeviceName:
        return DeviceName(
            self.job,
            _int_or_none(self.replica),
            _int_or_none(self.task),
            _type_or_none(self.device_type),
            _int_or_none(self.device_index),
        )

    def _take(self, name: DeviceName) -> None:
        self.job, self.replica, self.task = name.job, name.replica, name.task
        self.device_type, self.device_index = name.type, name.index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self._name() == other._name()

    def __hash__(self) -> int:
        return hash(self._name())

    def __repr__(self) -> str:
        return f"DeviceSpec({self.to_string()!r})"


def _int_or_none(value: Any) -> int | None:
    return None if value is None else int(value)


def _type_or_none(value: Any) -> str | None:
    if value in ("cpu", "gpu"):
        return value.upper()  # type: ignore[no-any-return]
    return None if value is None else str(value)
