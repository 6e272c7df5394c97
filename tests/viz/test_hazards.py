"""Each hazard is found in a program that suffers from it, and not in the same program mended."""

from __future__ import annotations

import pytest

from cli.commands import EXAMPLES
from minitf.viz.capture import capture
from minitf.viz.hazards import HAZARDS, find_hazards
from viz.hazard_programs import HEAD, PROGRAMS, SOUND, TAIL

HOSTS = {"ps": ["a:1", "a:2"], "worker": ["b:1", "b:2"]}


@pytest.fixture
def found(tmp_path):
    """The hazards of a program that each of two workers runs."""

    def run(text, **options):
        script = tmp_path / "program.py"
        script.write_text(HEAD + text + TAIL)
        first, second = (
            capture(str(script), [], HOSTS, ("worker", i), **options) for i in range(2)
        )
        return find_hazards(first, (), second)

    return run


@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_program_that_suffers(found, kind):
    bad, mended = PROGRAMS[kind]
    gpus = 1 if kind == "no-kernel" else 0
    hazards = found(bad, gpus=gpus)
    assert [h.kind for h in hazards] == [kind]
    assert hazards[0].text
    assert hazards[0].remedy
    if kind != "no-filters":
        assert "program.py:" in hazards[0].at
    assert found(mended, gpus=gpus) == []


@pytest.mark.parametrize("name", SOUND)
def test_no_false_alarm(found, name):
    assert found(SOUND[name]) == []


def test_every_hazard_has_a_program():
    assert len(PROGRAMS) == len(HAZARDS)


def test_the_line_is_that_of_the_op(found):
    bad, _ = PROGRAMS["whole-table"]
    (hazard,) = found(bad)
    line = int(hazard.at.rpartition(":")[2])
    assert "tf.gather" in (HEAD + bad).splitlines()[line - 1]
    assert "512 kB" in hazard.text
    assert "with tf.device('/job:worker/task:0')" in hazard.remedy


def test_soft_placement_hides_a_missing_kernel(found):
    bad, _ = PROGRAMS["no-kernel"]
    in_the_step = "soft = True\ntf.add_to_collection(tf.GraphKeys.TRAIN_OP, text.op)\n"
    hazards = found(bad + in_the_step, gpus=1)
    assert [h.kind for h in hazards] == ["no-kernel"] * len(hazards)
    assert "StringJoin" in hazards[0].text
    assert "soft" in hazards[0].text


def test_a_device_that_is_not_there(found):
    (hazard,) = found(PROGRAMS["no-filters"][1] + "with tf.device('/job:gone'): tf.no_op()\n")
    assert hazard.kind == "no-device"
    assert "/job:gone" in hazard.text


def test_examples(tmp_path, monkeypatch):
    """The examples are sound, but for the one that is there to be mended."""
    monkeypatch.chdir(tmp_path)  # where an estimator keeps its model
    kinds = {}
    for script in sorted(EXAMPLES.glob("*.py")):
        text = script.read_text()
        chief = {"chief": ["h4:1"]} if "tf.estimator" in text else {}
        hosts = HOSTS | chief
        flags = []
        if "job_name" in text:
            flags = [f"--{job}_hosts={','.join(hosts)}" for job, hosts in HOSTS.items()]
        first = capture(str(script), flags, hosts, ("chief", 0) if chief else ("worker", 0))
        flags += ["--task_index=1"] * bool(flags)
        second = first if chief else capture(str(script), flags, hosts, ("worker", 1))
        kinds[script.stem] = [h.kind for h in find_hazards(first, (), second)]
    assert {name: k for name, k in kinds.items() if k} == {
        "embedding_pinned": ["whole-table", "one-ps"]
    }
