"""Device names: what is read, what is refused, and how two names become one."""

from __future__ import annotations

import pytest

from minitf_runtime.devices.name import (
    DeviceName,
    merge_requested,
    parse_full,
    parse_requested,
    parse_strict,
    short_device,
    task_of,
)
from minitf_runtime.errors import InvalidArgumentError


@pytest.mark.parametrize(
    "text, canonical",
    [
        ("job:ps/task:1", "/job:ps/task:1"),
        ("/job:ps//task:1", "/job:ps/task:1"),
        ("/task:1/job:ps", "/job:ps/task:1"),
        ("gpu", "/device:GPU:*"),
        ("/GPU:*", "/device:GPU:*"),
        ("/cpu", "/device:CPU:*"),
        ("/device:gpu:0", "/device:GPU:0"),
        ("/job:ps/job:worker", "/job:worker"),
        ("/job:*", "/job:*"),
        ("/", ""),
        ("", ""),
        ("/device:FOO:2", "/device:FOO:2"),
        ("/job:a-b/task:0", "/job:a-b/task:0"),
        ("/job:1ps/task:0", "/job:1ps/task:0"),
        ("/job:w/replica:0/task:3/cpu:1", "/job:w/replica:0/task:3/device:CPU:1"),
    ],
)
def test_pythons_grammar(text, canonical):
    assert str(parse_requested(text)) == canonical


@pytest.mark.parametrize(
    "text, message",
    [
        ("/job:ps/task:x", "invalid literal for int"),
        ("/job:ps/task:*", "invalid literal for int"),
        ("/device:GPU:a", "invalid literal for int"),
        ("/jobs:ps", "Unknown attribute: 'jobs' in '/jobs:ps'"),
        ("/job:ps:1", "Unknown attribute: 'job'"),
        ("/device:CPU", "Unknown attribute: 'device'"),
        ("/gpu:0/cpu:0", "Cannot specify multiple device types"),
    ],
)
def test_pythons_grammar_refuses(text, message):
    with pytest.raises(ValueError, match=message.replace("*", r"\*")):
        parse_requested(text)


@pytest.mark.parametrize(
    "text, canonical",
    [
        ("/job:ps/task:*/device:CPU:*", "/job:ps/device:CPU:*"),
        ("/job:*", ""),
        ("/job:ps/job:worker", "/job:worker"),
        ("/gpu:1", "/device:GPU:1"),
        ("/device:CPU", "/device:CPU:*"),
        ("/", ""),
    ],
)
def test_the_runtimes_grammar(text, canonical):
    assert str(parse_strict(text)) == canonical


@pytest.mark.parametrize(
    "text", ["/job:1ps/task:0", "/job:a-b", "job:ps", "/task:x", "/jobs:ps", "/job:ps//task:1"]
)
def test_the_runtimes_grammar_refuses(text):
    assert parse_strict(text) is None
    with pytest.raises(InvalidArgumentError, match="Malformed device name"):
        parse_full(text)


@pytest.mark.parametrize(
    "outer, inner, merged",
    [
        ("/job:ps", "/task:1", "/job:ps/task:1"),
        ("/job:ps/task:1", "/job:worker", "/job:worker/task:1"),
        ("/device:CPU:0", "/job:worker/task:1", "/job:worker/task:1/device:CPU:0"),
        ("/job:ps", "", "/job:ps"),
    ],
)
def test_scopes_merge_field_by_field(outer, inner, merged):
    assert merge_requested(outer, inner) == merged


def name(text):
    return parse_full(text)


def test_merging_keeps_the_fields_of_both():
    both = name("/job:ps").merge(name("/task:1/device:CPU:*"))
    assert str(both) == "/job:ps/task:1/device:CPU:*"
    assert both.merge(DeviceName()) == both


@pytest.mark.parametrize(
    "a, b, message",
    [
        ("/job:ps", "/job:worker", "jobs: '/job:ps' and '/job:worker'"),
        ("/task:0", "/job:ps/task:1", "tasks: '/job:ps/task:0' and '/job:ps/task:1'"),
        ("/device:CPU:0", "/device:GPU:0", "types: '/device:CPU:0' and '/device:GPU:0'"),
        ("/device:CPU:0", "/device:CPU:1", "ids: '/device:CPU:0' and '/device:CPU:1'"),
    ],
)
def test_merging_what_differs(a, b, message):
    with pytest.raises(ValueError) as caught:
        name(a).merge(name(b))
    assert str(caught.value) == f"Cannot merge devices with incompatible {message}"


def test_soft_merging_gives_up_type_and_index_only():
    assert str(name("/job:ps/gpu:0").merge(name("/cpu:1"), soft=True)) == "/job:ps"
    assert str(name("/cpu:0").merge(name("/cpu:1"), soft=True)) == "/device:CPU:*"
    with pytest.raises(ValueError, match="incompatible jobs"):
        name("/job:ps").merge(name("/job:worker"), soft=True)


def test_matching():
    full = name("/job:ps/replica:0/task:1/device:CPU:0")
    assert name("/task:1").matches(full)
    assert DeviceName().matches(full)
    assert not name("/task:1/device:CPU:3").matches(full)
    assert name("/job:ps").compatible(name("/task:1"))
    assert not name("/job:ps").compatible(name("/job:worker/task:1"))


def test_parts_of_a_full_name():
    full = "/job:ps/replica:0/task:1/device:CPU:0"
    assert task_of(full) == "/job:ps/replica:0/task:1"
    assert short_device(full) == "ps:1"
    assert short_device(full.replace("CPU:0", "GPU:2")) == "ps:1/GPU:2"
    assert short_device("/device:CPU:0") == "/device:CPU:0"
