"""Groups of nodes that must share a device: union-find over what their members ask for."""

from __future__ import annotations

from collections.abc import Sequence

from minitf_runtime.devices.name import ANY, DeviceName
from minitf_runtime.errors import InternalError
from minitf_runtime.passes.kernels import TypeList, by_preference


class NoCommonType(ValueError):
    """No device type has kernels for all members of the two groups."""


class Groups:
    """What each group is bound to, kept at its root; nodes are known by their id.

    requested: what the members ask for, merged. resource: what a maker of a handle or reference
    asks for, which no user overrides. assigned: where a member already is.
    """

    def __init__(self, count: int) -> None:
        self.parent = list(range(count))
        self.rank = [0] * count
        self.requested = [ANY] * count
        self.resource = [ANY] * count
        self.assigned = [ANY] * count
        self.types: list[TypeList] = [()] * count
        self.asked_by: list[tuple[int, ...]] = [()] * count  # members whose requests count
        self.lacks: list[dict[str, int]] = [{}] * count  # device type -> a member without kernel
        self.placed_by = [-1] * count  # the member that was placed first

    def root(self, i: int) -> int:
        parent = self.parent
        top = i
        while parent[top] != top:
            top = parent[top]
        while parent[i] != top:
            parent[i], i = top, parent[i]
        return top

    def join(self, x: int, y: int, soft: bool) -> None:
        """Makes one group of two. Raises ValueError, and changes nothing, if they do not fit."""
        x, y = self.root(x), self.root(y)
        if x == y:
            return
        new, old = (y, x) if self.rank[x] < self.rank[y] else (x, y)
        assigned = self.assigned[new].merge(self.assigned[old])
        resource = self.resource[new].merge(self.resource[old])
        requested = self.requested[new].merge(self.requested[old], soft)
        types = common_types(self.types[new], self.types[old])
        if not types:
            raise NoCommonType
        self.asked_by[new] = self._speakers(new, old)
        self.lacks[new] = {**self.lacks[old], **self.lacks[new]}
        self.assigned[new], self.resource[new] = assigned, resource
        self.requested[new] = requested.override(assigned).override(resource)
        self.types[new] = types
        self.placed_by[new] = max(self.placed_by[new], self.placed_by[old])
        self.parent[old] = new
        if self.rank[new] == self.rank[old]:
            self.rank[new] += 1

    def _speakers(self, new: int, old: int) -> tuple[int, ...]:
        """Whose requests make up that of both: makers of handles first, of two alike who was made
        first. Those of a group that adds nothing are left out.
        """
        first, second = (old, new) if self.resource[old] and not self.resource[new] else (new, old)
        a, b = self.requested[first], self.requested[second]
        if (a is b or a == b) and bool(self.resource[new]) == bool(self.resource[old]):
            return min(filter(None, (self.asked_by[new], self.asked_by[old])), default=())
        if a.override(b) == a:
            return self.asked_by[first]
        if b.override(a) == b:
            return self.asked_by[second]
        return self.asked_by[first] + self.asked_by[second]

    def follow(self, source: int, user: int) -> None:
        """The user's group gives up its request for that of the source it takes by handle."""
        i, j = self.root(source), self.root(user)
        asked = self.requested[i].override(self.assigned[j]).override(self.resource[j])
        self.requested[j] = asked
        self.asked_by[j] = self.asked_by[i]

    def pin(self, i: int, device: DeviceName) -> None:
        """Binds the whole group with this root to the device, a full name, that a member got."""
        held = self.assigned[i]
        if held is device:
            return
        try:
            self.assigned[i] = held.merge(device) if held else device
        except ValueError as e:
            raise InternalError(
                None, None, f"Constraining by assigned device should not cause an error: {e}"
            ) from None
        self.resource[i] = self.requested[i] = device


def common_types(a: TypeList, b: TypeList) -> TypeList:
    """The types of both, by the priorities of the side that has some; by none if both disagree."""
    if a == b:
        return a
    kept = by_preference([t for t in a if any(t[0] == u[0] for u in b)])
    others = by_preference([u for u in b if any(u[0] == t[0] for t in a)])
    if not _has_priorities(others):
        return kept
    if not _has_priorities(kept):
        return others
    if [t[0] for t in kept] == [u[0] for u in others]:
        return kept
    return by_preference([(t[0], 0) for t in kept])


def _has_priorities(types: Sequence[tuple[str, int]]) -> bool:
    return any(priority for _, priority in types)
