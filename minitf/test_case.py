"""tf.test.TestCase: a unittest of graphs, with comparisons of arrays and messages."""

from __future__ import annotations

import functools
import random
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest import mock

import numpy as np
from absl.testing import absltest

from minitf.default import get_default_graph, get_default_session, reset_default_graph
from minitf.device_spec import DeviceSpec
from minitf.operation import Tensor
from minitf.options import ConfigProto
from minitf.proto.message import Message
from minitf.proto.text import merge_text
from minitf.session import Session
from minitf_runtime.errors import OpError

__all__ = ["TestCase", "assert_equal_graph_def", "get_temp_dir", "main", "mock"]

_SEED = 87654321  # of the graph and of NumPy, as TensorFlow's own test case has it


def main(argv: list[str] | None = None) -> None:
    """Runs the tests of the calling script, with its flags parsed."""
    absltest.main(argv=argv)


def get_temp_dir() -> str:
    """A directory for the files of this process's tests, the same each time; it ends with it."""
    return _temp_dir().name


@functools.cache
def _temp_dir() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def assert_equal_graph_def(actual: Any, expected: Any, checkpoint_v2: bool = False) -> None:
    """Raises AssertionError unless both graphs have the same nodes, in any order."""
    for what in (actual, expected):
        if not isinstance(what, Message):
            raise TypeError(f"Expected a GraphDef, got {type(what).__name__}")
    ours, theirs = ({node.name: node for node in g.node} for g in (actual, expected))
    different = [n for n in sorted({*ours, *theirs}) if ours.get(n) != theirs.get(n)]
    if different:
        raise AssertionError(f"Nodes that differ or are missing: {different}")


class TestCase(absltest.TestCase):
    """A new default graph with a fixed seed for each test (TF: test.TestCase)."""

    assertItemsEqual = absltest.TestCase.assertCountEqual  # noqa: N815
    assertRaisesRegexp = absltest.TestCase.assertRaisesRegex  # noqa: N815

    def setUp(self) -> None:
        super().setUp()
        random.seed(_SEED)
        np.random.seed(_SEED)
        reset_default_graph()
        get_default_graph().seed = _SEED
        self._cached: Session | None = None
        self._temp_dir: str | None = None

    def tearDown(self) -> None:
        if self._cached is not None:
            self._cached.close()
        super().tearDown()

    def get_temp_dir(self) -> str:
        """A directory of this test's own."""
        if self._temp_dir is None:
            self._temp_dir = tempfile.mkdtemp(dir=get_temp_dir())
        return self._temp_dir

    # ---- sessions

    @contextmanager
    def session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> Iterator[Session]:
        """A session of the graph, both as default; on the CPU unless a GPU is asked for."""
        config = config or ConfigProto(allow_soft_placement=not force_gpu)
        where = None if use_gpu or force_gpu else "/cpu:0"
        with Session(graph=graph, config=config) as made, made.graph.device(where):
            yield made

    def test_session(self, graph: Any = None, **options: Any) -> Any:
        """The cached session, or for a graph one of its own."""
        if self.id().endswith(".test_session"):
            self.skipTest("Not a test.")
        return self.session(graph, **options) if graph else self.cached_session(**options)

    @contextmanager
    def cached_session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = False, force_gpu: bool = False
    ) -> Iterator[Session]:
        """The same session each time within a test."""
        if self._cached is None:
            config = config or ConfigProto(allow_soft_placement=not force_gpu)
            self._cached = Session(graph=graph, config=config)
        session, where = self._cached, None if use_gpu or force_gpu else "/cpu:0"
        with session.graph.as_default(), session.as_default(), session.graph.device(where):
            yield session

    def evaluate(self, tensors: Any) -> Any:
        """The values in the default session, or in one of its own."""
        session = get_default_session()
        if session is not None:
            return session.run(tensors)
        with self.cached_session() as session:
            return session.run(tensors)

    # ---- arrays

    def _array(self, value: Any) -> Any:
        if hasattr(value, "_as_graph_element") or isinstance(value, Tensor):
            value = self.evaluate(value)
        return np.asarray(value)

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:  # noqa: N802
        """Same shape and values; NaNs are equal."""
        a, b = self._array(a), self._array(b)
        self.assertEqual(a.shape, b.shape, msg)
        np.testing.assert_array_equal(a, b, msg or "")

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:  # noqa: N802
        if self._holds(self.assertAllEqual, a, b):
            self.fail(msg or "The two values are equal at all elements")

    def assertAllClose(  # noqa: N802
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Same structure and shapes, and values close to each other."""
        if isinstance(a, Mapping):
            self.assertCountEqual(a, b, msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, msg)
        elif isinstance(a, (list, tuple)) and _uneven(a):
            self.assertEqual(len(a), len(b), msg)
            for x, y in zip(a, b):
                self.assertAllClose(x, y, rtol, atol, msg)
        else:
            a, b = self._array(a), self._array(b)
            self.assertEqual(a.shape, b.shape, msg)
            np.testing.assert_allclose(a, b, rtol=rtol, atol=atol, err_msg=msg or "")

    def assertNotAllClose(self, a: Any, b: Any, **options: Any) -> None:  # noqa: N802
        if self._holds(self.assertAllClose, a, b, **options):
            self.fail("The two values are close at all elements")

    def _holds(self, check: Callable[..., None], *args: Any, **kwargs: Any) -> bool:
        try:
            check(*args, **kwargs)
        except AssertionError:
            return False
        return True

    def assertAllCloseAccordingToType(  # noqa: N802
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        msg: str | None = None,
    ) -> None:
        """assertAllClose with the tolerance of the less exact type of the two."""
        a, b = self._array(a), self._array(b)
        names = {a.dtype.name, b.dtype.name}
        if names & {"float32", "complex64"}:
            rtol, atol = max(rtol, float_rtol), max(atol, float_atol)
        if "float16" in names:
            rtol, atol = max(rtol, half_rtol), max(atol, half_atol)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:  # noqa: N802
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, msg or f"{f1} != {f2} +/- {err}")

    def assertArrayNear(self, a: Any, b: Any, err: float, msg: str | None = None) -> None:  # noqa: N802
        self.assertEqual(len(a), len(b), msg)
        for x, y in zip(a, b):
            self.assertNear(x, y, err, msg)

    def assertNDArrayNear(self, a: Any, b: Any, err: float, msg: str | None = None) -> None:  # noqa: N802
        self.assertLess(float(np.linalg.norm(self._array(a) - self._array(b))), err, msg)

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: str | None = None) -> None:  # noqa: N802
        """The static shape of a tensor is that of the array."""
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg)

    def assertAllInRange(self, target: Any, lower_bound: Any, upper_bound: Any) -> None:  # noqa: N802
        values = self._array(target)
        self.assertTrue(((values >= lower_bound) & (values <= upper_bound)).all(), values)

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:  # noqa: N802
        self.assertGreater(self._array(a).min(), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:  # noqa: N802
        self.assertLess(self._array(a).max(), comparison_target)

    # ---- messages, devices and errors

    def assertProtoEquals(self, expected: Any, message: Any, msg: str | None = None) -> None:  # noqa: N802
        """A message equals another, or what a text says."""
        if isinstance(expected, (str, bytes)):
            text = expected.decode() if isinstance(expected, bytes) else expected
            expected = type(message)()
            merge_text(text, expected)
        self.assertEqual(expected, message, msg)

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:  # noqa: N802
        ours, theirs = (
            DeviceSpec.from_string(str(d or "")).to_string() for d in (device1, device2)
        )
        self.assertEqual(ours, theirs, msg)

    @contextmanager
    def assertRaisesWithPredicateMatch(  # noqa: N802
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """The block raises an error whose text has the pattern, or for which the function holds."""
        wanted = expected_err_re_or_predicate
        try:
            yield
        except exception_type as e:
            fits = wanted(e) if callable(wanted) else re.search(wanted, str(e))
            if not fits:
                raise AssertionError(f"Exception does not match {wanted}: {e}") from e
        else:
            self.fail(f"{exception_type.__name__} not raised")

    def assertRaisesOpError(self, pattern: Any) -> AbstractContextManager[None]:  # noqa: N802
        return self.assertRaisesWithPredicateMatch(OpError, pattern)


def _uneven(values: Any) -> bool:
    """Whether a sequence is a structure of arrays rather than one array."""
    if any(isinstance(v, (Mapping, Tensor)) or hasattr(v, "_as_graph_element") for v in values):
        return True
    try:
        return len({np.shape(v) for v in values}) > 1
    except ValueError:  # there are such sequences inside
        return True
