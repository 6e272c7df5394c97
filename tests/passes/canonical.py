"""Names of cutter nodes made comparable: x_S12 and x/_7 say nothing, _send[x:0 -> DEVICE] does."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from minitf_runtime.graph import CONTROL, Graph
from minitf_runtime.passes.data import Partitioned

_MINTED = re.compile(r"(?:_[SG]\d+|/_\d+)$")
_TRANSFERS = ("_Send", "_HostSend", "_Recv", "_HostRecv")


class Canonical:
    """The parts and edges of a partitioned graph under canonical names."""

    def __init__(self, cut: Partitioned) -> None:
        self.cut = cut
        self.whole = Graph(n for part in cut.parts.values() for n in part)
        self.name = {n.name: n.name for n in self.whole}
        self._name_control_loops()
        self.edges = self._name_pairs()

    def _name_control_loops(self) -> None:
        for n in self.whole:
            if n.op != "Enter" or not n.name.startswith("_cloop"):
                continue
            base = f"_cloop[{n.attrs['frame_name']}]"
            start = self.whole[n.inputs[0][0]]
            if start.op == "Const" and _MINTED.search(start.name):
                self.name[start.name] = f"{base}/const"
            self.name[n.name] = f"{base}/enter"
            merge = self._loop_consumer(n.name, "Merge")
            switch = self._loop_consumer(merge, "Switch")
            following = self._loop_consumer(switch, "NextIteration")
            self.name |= {
                merge: f"{base}/merge",
                switch: f"{base}/switch",
                following: f"{base}/next",
            }

    def _loop_consumer(self, name: str, op: str) -> str:
        users = (c.name for c, slot, _ in self.whole.consumers(name) if slot != CONTROL)
        return next(u for u in users if self.whole[u].op == op and u.startswith("_cloop"))

    def _name_pairs(self) -> list[dict[str, Any]]:
        origin: dict[str, str] = {}
        count: Counter[Any] = Counter()
        by_key = {self._key(n): n for n in self.whole if n.op.endswith("Recv") and self._cuts(n)}
        sends = [n for n in self.whole if n.op.endswith("Send") and self._cuts(n)]
        edges = []
        for send in sorted(sends, key=self._stage_and_number):
            recv = by_key[self._key(send)]
            source, index = send.inputs[0]
            raw = send.attrs["tensor_name"].split("_", 2)[2]
            token = self.whole[source]
            control = (
                token.op == "Const"
                and len(token.control) == 1
                and (_MINTED.sub("", source) == raw and bool(_MINTED.search(source)))
            )
            relay = source in origin
            if relay:
                label = origin[source]
            else:
                label = f"^{self.name[raw]}" if control else f"{self.name.get(raw, raw)}:{index}"
            here, there = send.device, recv.device
            number = count[label, here, there]
            count[label, here, there] += 1
            tag = f"#{number}" if number else ""
            self.name[send.name] = f"_send[{label} -> {there}]{tag}"
            self.name[recv.name] = f"_recv[{label} <- {here}]{tag}"
            origin[recv.name] = label
            end = recv.name
            if control:
                self.name[source] = f"_ctl[{label} -> {there}]{tag}"
                end = next(
                    c.name for c, _, _ in self.whole.consumers(recv.name) if c.op == "Identity"
                )
                self.name[end] = f"_ctlid[{label} <- {here}]{tag}"
            edges.append((label, control, relay, here, there, recv, end))
        return [self._edge(*e) for e in edges]

    def _edge(self, label, control, relay, here, there, recv, end) -> dict[str, Any]:
        users = {
            ("^" if slot == CONTROL else "") + self.name[c.name]
            for c, slot, _ in self.whole.consumers(end)
        }
        is_control = label.startswith("^")
        src, slot = (label[1:], "-1") if is_control else label.rsplit(":", 1)
        edge = {
            "kind": "control" if control else "data",
            "src": src,
            "slot": int(slot),
            "src_device": here,
            "dst_device": there,
            "dtype": recv.output_types[0].name,
            "consumers": sorted(users),
        }
        return edge | ({"relay": True} if relay else {})

    def _cuts(self, n) -> bool:
        return n.op in _TRANSFERS and not n.attrs["client_terminated"]

    def _key(self, n) -> tuple[str, str, str]:
        return tuple(n.attrs[k] for k in ("tensor_name", "send_device", "recv_device"))

    def _stage_and_number(self, n) -> tuple[Any, ...]:
        inner = bool(re.search(r"_G\d+$", n.name))
        return inner, int(n.attrs["tensor_name"].split("_")[1]), self._key(n)

    def parts(self) -> dict[str, list[dict[str, Any]]]:
        return {device: self._part(device) for device in self.cut.parts}

    def _part(self, device: str) -> list[dict[str, Any]]:
        out = []
        for n in self.cut.parts[device]:
            inputs = [f"{self.name[s]}:{i}" for s, i in n.inputs]
            control = sorted(f"^{self.name[c]}" for c in n.control)
            op = n.op.replace("_Host", "_")
            out.append({"name": self.name[n.name], "op": op, "inputs": inputs + control})
        return sorted(out, key=lambda n: n["name"])
