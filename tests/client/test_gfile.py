"""tf.gfile, and files as ops."""

from __future__ import annotations

import pytest

import minitf as tf
from minitf import gfile
from minitf.ops.files import matching_files, read_file, write_file


def test_files(tmp_path):
    path = str(tmp_path / "a" / "b.txt")
    gfile.MakeDirs(str(tmp_path / "a"))
    with gfile.GFile(path, "w") as f:
        f.write("one\ntwo\n")
    with gfile.Open(path) as f:
        assert (f.readline(), f.tell(), f.size(), list(f)) == ("one\n", 4, 8, ["two\n"])
    assert gfile.FastGFile(path, "rb").read(3) == b"one"
    assert gfile.Glob([str(tmp_path / "*" / "*.txt")]) == [path]
    assert gfile.ListDirectory(str(tmp_path / "a")) == ["b.txt"]
    gfile.Copy(path, path + "2")
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.Rename(path, path + "2")
    gfile.Rename(path, path + "2", overwrite=True)
    assert gfile.Exists(path + "2") and not gfile.Exists(path)
    assert [names for _, _, names in gfile.Walk(str(tmp_path))] == [[], ["b.txt2"]]
    gfile.Remove(path + "2")
    gfile.DeleteRecursively(str(tmp_path / "a"))
    assert not gfile.IsDirectory(str(tmp_path / "a"))


@pytest.mark.parametrize(
    "act", [lambda p: gfile.GFile(p).read(), gfile.ListDirectory, gfile.Remove, gfile.Stat]
)
def test_missing_files_are_named(tmp_path, act):
    path = str(tmp_path / "none")
    with pytest.raises(tf.errors.NotFoundError, match=f"{path}; No such file or directory"):
        act(path)


def test_as_ops(tmp_path):
    path = str(tmp_path / "new" / "f")
    with tf.Session() as session:
        session.run(write_file(path, b"abc\0"))
        assert session.run(read_file(path)) == b"abc\0"
        found = session.run(matching_files([str(tmp_path / "*"), str(tmp_path / "x*")]))
        assert found.tolist() == [str(tmp_path / "new").encode()]
        assert session.run(matching_files("no/such/*")).shape == (0,)
        with pytest.raises(tf.errors.NotFoundError, match="f2; No such file"):
            session.run(read_file(path + "2"))
