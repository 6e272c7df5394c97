"""tf.train.Saver: its ops as TensorFlow 1.15 makes them, its files, and what goes wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import minitf as tf
from data.checkpoints.record import PROGRAMS, contents
from minitf.train.saver_builder import BaseSaverBuilder
from recording import load, record

CHECKPOINTS = Path(__file__).parents[1] / "data" / "checkpoints"
RECORDED = load(CHECKPOINTS / "graphs.json.gz")


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_recorded(name):
    got = record(tf, PROGRAMS[name])
    assert got["said"] == RECORDED[name]["said"]
    assert got["nodes"] == RECORDED[name]["nodes"]


def two_variables(value=1.0):
    v = tf.get_variable("v", initializer=np.full([2, 3], value, np.float32))
    r = tf.get_variable("r", initializer=np.arange(4), use_resource=True)
    return v, r


def saved(path, value=1.0, **options):
    """Saves two variables, whole or sharded, from a graph of its own."""
    with tf.Graph().as_default():
        two_variables(value)
        saver = tf.train.Saver(**options)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return saver.save(session, str(path))


@pytest.mark.parametrize("sharded", [False, True])
def test_restores_what_was_saved_without_initializing(tmp_path, sharded):
    path = saved(tmp_path / "m", 7.0, sharded=sharded)
    v, r = two_variables()
    with tf.Session() as session:
        tf.train.Saver().restore(session, path)
        np.testing.assert_array_equal(session.run(v), np.full([2, 3], 7.0))
        np.testing.assert_array_equal(session.run(r), np.arange(4))
    files = {"checkpoint", "m.index", "m.meta", "m.data-00000-of-00001"}
    assert set(os.listdir(tmp_path)) == files


def test_partitions_are_joined_and_cut_anew(tmp_path):
    whole = np.arange(20, dtype=np.float32).reshape(5, 4)
    cuts = ([2, 1], [1, 3], [1, 1])
    paths = []
    for i, cut in enumerate(cuts):
        with tf.Graph().as_default(), tf.Session() as session:
            w = tf.get_variable("w", [5, 4], partitioner=lambda shape, dtype, c=cut: c)
            saver = tf.train.Saver()
            if not paths:
                rows = tf.global_variables()
                session.run([rows[0].assign(whole[:3]), rows[1].assign(whole[3:])])
            else:
                saver.restore(session, paths[-1])
            paths.append(saver.save(session, str(tmp_path / f"m{i}")))
            if cut != [1, 1]:
                continue
            np.testing.assert_array_equal(session.run(w.as_tensor()), whole)


def test_names_of_a_dict(tmp_path):
    v, _ = two_variables(3.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver({"old/v": v}).save(session, str(tmp_path / "m"))
    assert tf.train.list_variables(path) == [("old/v", [2, 3])]
    np.testing.assert_array_equal(
        tf.train.load_variable(str(tmp_path), "old/v"), 3 * np.ones([2, 3])
    )


def test_keeps_the_last_ones(tmp_path):
    two_variables()
    saver = tf.train.Saver(max_to_keep=2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(4):
            path = saver.save(session, str(tmp_path / "m"), global_step=step)
    assert path == str(tmp_path / "m-3") == tf.train.latest_checkpoint(str(tmp_path))
    assert saver.last_checkpoints == [str(tmp_path / "m-2"), path]
    assert not list(tmp_path.glob("m-0*")) and list(tmp_path.glob("m-2*"))
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert list(state.all_model_checkpoint_paths) == saver.last_checkpoints
    later = tf.train.Saver(max_to_keep=2)
    later.recover_last_checkpoints([str(tmp_path / "m-0"), *saver.last_checkpoints])
    assert later.last_checkpoints == saver.last_checkpoints


def test_keeps_one_for_good_every_so_often(tmp_path):
    two_variables()
    saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=1e-9)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(3):
            saver.save(session, str(tmp_path / "m"), global_step=step, write_meta_graph=False)
    assert len(list(tmp_path.glob("*.index"))) == 3


def test_relative_paths_move_with_the_directory(tmp_path):
    first = tmp_path / "a"
    saved(first / "m", save_relative_paths=True)
    first.rename(tmp_path / "b")
    assert tf.train.latest_checkpoint(str(tmp_path / "b")) == str(tmp_path / "b" / "m")


def test_padded_steps_and_a_step_tensor(tmp_path):
    two_variables()
    step = tf.train.get_or_create_global_step()
    saver = tf.train.Saver(pad_step_number=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert saver.save(session, str(tmp_path / "m"), step).endswith("m-00000000")


def test_each_tensor_by_an_op_of_its_own(tmp_path):
    path = saved(tmp_path / "m", 5.0)
    v, _ = two_variables()
    saver = tf.train.Saver(builder=BaseSaverBuilder())
    assert (
        len([op for op in tf.get_default_graph().get_operations() if op.type == "RestoreV2"]) == 2
    )
    with tf.Session() as session:
        saver.restore(session, path)
        assert session.run(v)[0, 0] == 5.0


def test_reshape(tmp_path):
    path = saved(tmp_path / "m", 5.0)
    v = tf.get_variable("v", [6])
    with tf.Session() as session:
        tf.train.Saver(reshape=True).restore(session, path)
        np.testing.assert_array_equal(session.run(v), np.full(6, 5.0))


# ---- what goes wrong


def test_a_variable_that_is_not_there(tmp_path):
    path = saved(tmp_path / "m")
    tf.get_variable("other", [2])
    with tf.Session() as session, pytest.raises(tf.errors.NotFoundError) as error:
        tf.train.Saver().restore(session, path)
    assert f"Key other not found in checkpoint {path}" in str(error.value)
    assert "Restoring from checkpoint failed." in str(error.value)


@pytest.mark.parametrize(
    "dtype, shape, text",
    [
        (tf.float32, [3], "lhs shape= [3] rhs shape= [2,3]"),
        (tf.int32, [2, 3], "expected dtype int32 does not equal original dtype float"),
    ],
)
def test_a_variable_of_another_kind(tmp_path, dtype, shape, text):
    path = saved(tmp_path / "m")
    tf.get_variable("v", shape, dtype)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as error:
        tf.train.Saver().restore(session, path)
    assert text in str(error.value)
    assert "a mismatch between the current graph and the graph" in str(error.value)


def test_an_uninitialized_variable_leaves_the_old_checkpoint(tmp_path):
    path = saved(tmp_path / "m", 4.0)
    two_variables()
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError):
        tf.train.Saver().save(session, path)
    assert tf.train.load_variable(path, "v")[0, 0] == 4.0


def test_damaged_files_are_named(tmp_path):
    path = saved(tmp_path / "m")
    two_variables()
    data = tmp_path / "m.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:-30])
    with tf.Session() as session, pytest.raises(tf.errors.DataLossError, match=str(data)):
        tf.train.Saver().restore(session, path)
    data.unlink()
    with tf.Session() as session, pytest.raises(tf.errors.NotFoundError, match=str(data)):
        tf.train.Saver().restore(session, path)


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path):
    path = saved(tmp_path / "m", 4.0)
    program = f"""
import resource
import signal
import minitf as tf
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
big = tf.get_variable("v", [20000])
with tf.Session() as session:
    session.run(big.initializer)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))
    try:
        tf.train.Saver().save(session, {path!r})
    except tf.errors.ResourceExhaustedError as e:
        print(e)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert f"{path}.data-00000-of-00001; File too large" in done.stdout, done.stderr
    assert tf.train.load_variable(path, "v")[0, 0] == 4.0
    assert set(os.listdir(tmp_path)) == {"checkpoint", "m.index", "m.meta", "m.data-00000-of-00001"}


def test_state_files_that_cannot_be_read(tmp_path):
    assert tf.train.get_checkpoint_state(str(tmp_path)) is None
    assert tf.train.latest_checkpoint(str(tmp_path)) is None
    state = tmp_path / "checkpoint"
    state.write_text('model_checkpoint_path: "m')
    assert tf.train.get_checkpoint_state(str(tmp_path)) is None
    state.write_text('all_model_checkpoint_paths: "m"')
    with pytest.raises(ValueError, match="Invalid checkpoint state"):
        tf.train.get_checkpoint_state(str(tmp_path))
    tf.train.update_checkpoint_state(str(tmp_path), str(tmp_path / "m"))
    assert tf.train.latest_checkpoint(str(tmp_path)) is None  # there are no such files
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file"):
        tf.train.load_checkpoint(str(tmp_path))


@pytest.mark.parametrize("name", ["old", "old_sharded-?????-of-00001"])
def test_the_old_format_is_read(tmp_path, name):
    zipfile.ZipFile(CHECKPOINTS / "checkpoints.zip").extractall(tmp_path)
    want = contents()
    v = tf.get_variable("float32", [2, 3])
    w = tf.get_variable("scope/columns", [2, 100], tf.int64,
                        partitioner=tf.fixed_size_partitioner(2))  # fmt: skip
    with tf.Session() as session:
        tf.train.Saver().restore(session, str(tmp_path / name))
        np.testing.assert_array_equal(session.run(v), want["float32"])
        np.testing.assert_array_equal(session.run(w.as_tensor()), want["scope/columns"])
    assert dict(tf.train.list_variables(str(tmp_path / name)))["scope/rows"] == [5, 4]


def test_the_old_format_is_not_written(tmp_path):
    v, _ = two_variables()
    with pytest.raises(tf.errors.UnimplementedError, match="V2 only"):
        tf.train.Saver(write_version=tf.train.SaverDef.V1)
    save = tf.raw_ops.SaveSlices(
        filename=str(tmp_path / "m"), tensor_names=["v"], shapes_and_slices=[""], data=[v]
    )
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(tf.errors.UnimplementedError, match="SaveSlices: .* V2 only"):
            session.run(save)
