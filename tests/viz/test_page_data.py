"""The values that the page reads: those of the rows, and how they hang together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from minitf.viz.page.data import model
from minitf.viz.rows import edge_rows, op_rows
from passes.build import node
from viz.page_steps import big_step, cut, hostile_step, step_of_script

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def step():
    return step_of_script(ROOT / "examples" / "who_applies.py")


@pytest.fixture(scope="module")
def data(step):
    return model(step, "who_applies.py")


def texts(data, column):
    return [data["strings"][i] for i in data["ops"][column]]


def test_nine_messages_of_48_bytes(data):
    transfers = data["transfers"]
    assert len(transfers) == 9
    assert sum(t["bytes"] for t in transfers) == 48
    assert [t["kind"] for t in transfers].count("control") == 3


def test_it_is_plain_json(data):
    assert json.loads(json.dumps(data))["title"] == "who_applies.py"


def test_ops_are_the_rows(step, data):
    rows = op_rows(step)
    assert data["ops"]["name"] == [r.name for r in rows]
    assert texts(data, "op") == [r.op for r in rows]
    assert texts(data, "source") == [r.source for r in rows]
    assert [data["roles"][i] for i in data["ops"]["role"]] == [r.role for r in rows]
    assert [data["devices"][i]["name"] for i in data["ops"]["device"]] == [r.device for r in rows]
    why = [tuple(data["strings"][i] for i in ids) for ids in data["ops"]["why"]]
    assert why == [r.why for r in rows]


def test_transfers_are_the_rows(step, data):
    for row, t in zip(edge_rows(step), data["transfers"], strict=True):
        same = ("tensor", "kind", "meaning", "of", "dtype", "shape", "bytes", "why", "consumers")
        assert [t[name] for name in same] == [getattr(row, name) for name in same]


def test_ends_of_transfers(data):
    names = data["ops"]["name"]
    gradient = next(t for t in data["transfers"] if t["of"] == ("W",))
    assert names[gradient["maker"]] == "gradients/MatMul_grad/tuple/control_dependency_1"
    assert [names[i] for i in gradient["users"]] == ["Adagrad/update_W/ApplyAdagrad"]


def test_inputs_are_ops_or_what_is_fed(data):
    names = data["ops"]["name"]
    product = names.index("MatMul")
    assert data["ops"]["inputs"][product] == ["x:0", [names.index("W/read"), 0]]


def test_lines_of_the_user(data):
    lines = data["lines"]
    assert lines["examples/who_applies.py:32".replace("examples", str(ROOT / "examples"))] == (
        "train = tf.train.AdagradOptimizer(0.01).minimize(loss, global_step=step)"
    )


def test_where_minimize_landed(data):
    names = data["ops"]["name"]
    said = [
        (data["devices"][r["device"]]["short"], r["part"], [names[i] for i in r["variables"]])
        for r in data["minimize"]["landed"]
    ]
    assert said == [
        ("worker:0", "computes", []),
        ("ps:0", "applies", ["W", "global_step"]),
        ("ps:1", "applies", ["b"]),
    ]


@pytest.mark.parametrize("which", ["example", "big", "hostile"])
def test_events_are_an_order_that_can_run(which, step):
    cuts = {"example": lambda: step, "big": lambda: big_step(600), "hostile": hostile_step}
    data = model(cuts[which](), "")
    events = list(zip(data["events"]["what"], data["events"]["which"], strict=True))
    at = {event: i for i, event in enumerate(events)}
    ops, transfers = data["ops"], data["transfers"]
    assert len(at) == len(events) == len(ops["name"]) + 2 * len(transfers)
    for i, (inputs, device) in enumerate(zip(ops["inputs"], ops["device"])):
        for source in [s for s in inputs if not isinstance(s, str)]:
            assert at["o", source[0]] < at["o", i]
            if ops["device"][source[0]] == device:
                continue
            assert any(
                t["maker"] == source[0] and at["r", j] < at["o", i]
                for j, t in enumerate(transfers)
                if t["dst"] == device
            )
    for i, t in enumerate(transfers):
        assert at["s", i] < at["r", i]
        assert t["maker"] is None or at["o", t["maker"]] < at["s", i]


def test_big_attributes_are_cut():
    import numpy as np

    big = node("c", op="Const", value=np.zeros((300, 200), "f"), text="x" * 1000, few=[1, 2])
    data = model(cut([big], ["c"]), "")
    (ids,) = data["ops"]["attrs"]
    value, text, few = [data["strings"][i] for i in ids]
    assert value == "value = float32[300,200]"
    assert text == "text = " + "x" * 120 + " …"
    assert few == "few = [1, 2]"


def test_no_line_of_a_file_that_is_no_program(tmp_path):
    """A graph may come from elsewhere and name any file."""
    for name in ("secret.txt", "mine.py"):
        (tmp_path / name).write_text("first\nsecond\n")
    nodes = [
        node(f"n{i}", op="Const").with_(source=f"{tmp_path}/{at}")
        for i, at in enumerate(
            ("secret.txt:1", "mine.py:2", "mine.py:x", "missing.py:1", "mine.py")
        )
    ]
    data = model(cut(nodes, [n.name for n in nodes]), "")
    assert data["lines"] == {f"{tmp_path}/mine.py:2": "second"}


def test_one_device_and_no_optimizer():
    data = model(cut([node("c", op="Const")], ["c"]), "")
    assert data["transfers"] == data["minimize"]["landed"] == []
    assert data["events"] == {"what": "o", "which": [0]}
