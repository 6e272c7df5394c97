"""Which devices a group may use: by its request, by its kernels, and under soft placement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from minitf_runtime.devices.name import DeviceName
from minitf_runtime.passes.data import Fit
from minitf_runtime.passes.kernels import TYPE_PRIORITY, TypeList


class Candidates(NamedTuple):
    """What a group may use, also as a set. `default`: the preferred device, '' if there is none.
    `softened`: the request without what nothing fits."""

    fit: Fit
    allowed: frozenset[str]
    default: str
    softened: bool = False


class Finder:
    """Finds candidates among the devices of a session."""

    def __init__(self, devices: Mapping[str, DeviceName], soft: bool) -> None:
        self._devices = devices
        self._soft = soft
        self._known: dict[tuple[DeviceName, TypeList], Candidates] = {}

    def find(
        self, asked: DeviceName, types: TypeList, assigned: DeviceName, resource: DeviceName
    ) -> Candidates:
        """Those of a group, with what it is bound to; `default` is '' if there are none."""
        found = self._matching(asked, types)
        if found.default or not asked or not self._soft:
            return found
        found = self._matching(_soften(asked, assigned.override(resource)), types)
        if not found.default:
            found = self._matching(_soften(asked, assigned), types)
        return found._replace(softened=True)

    def _matching(self, asked: DeviceName, types: TypeList) -> Candidates:
        """Devices of these types that fit the request, the preferred first."""
        key = (asked, types)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._sort_out(asked, types)
        return found

    def _sort_out(self, asked: DeviceName, types: TypeList) -> Candidates:
        rank = {t: (-priority, -TYPE_PRIORITY.get(t, 0)) for t, priority in types}
        fits, unasked, no_kernel = [], [], []
        for d, parsed in self._devices.items():
            if not asked.matches(parsed):
                unasked.append(d)
            elif parsed.type not in rank:
                no_kernel.append(d)
            else:
                fits.append(d)
        fits.sort(key=lambda d: (rank[str(self._devices[d].type)], d))
        equals = sum(self._devices[d].type == self._devices[fits[0]].type for d in fits)
        unasked.sort()
        no_kernel.sort()
        fit = Fit(str(asked), types, tuple(fits), equals, tuple(unasked), tuple(no_kernel))
        return Candidates(fit, frozenset(fits), fits[0] if fits else "")


def _soften(asked: DeviceName, bound: DeviceName) -> DeviceName:
    """The request without type and index, except what the group is bound to."""
    return DeviceName(
        asked.job,
        asked.replica,
        asked.task,
        None if bound.type is None else asked.type,
        None if bound.index is None else asked.index,
    )
