"""The array module of a fake GPU: cupy's names and limits, so far as NumPy has them too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from minitf_runtime.devices.fake_array import FakeArray, launch, no_lists, root_of, wrapped
from minitf_runtime.devices.fake_cuda import FakeCuda
from minitf_runtime.devices.fake_memory import PinnedArray, empty, empty_pinned
from minitf_runtime.devices.fake_stream import OutOfOrder

_UFUNCS = frozenset(
    """
    abs absolute add angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and
    bitwise_not bitwise_or bitwise_xor cbrt ceil conj conjugate copysign cos cosh deg2rad degrees
    divide divmod equal exp exp2 expm1 fabs float_power floor floor_divide fmax fmin fmod frexp gcd
    greater greater_equal heaviside hypot invert isfinite isinf isnan lcm ldexp left_shift less
    less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or
    logical_xor maximum minimum mod modf multiply negative nextafter not_equal positive power
    rad2deg radians reciprocal remainder right_shift rint sign signbit sin sinh sqrt square
    subtract tan tanh true_divide trunc
    """.split()
)
_FUNCTIONS = frozenset(
    """
    all allclose amax amin any append arange argmax argmin argpartition argsort around array_equal
    array_split ascontiguousarray atleast_1d atleast_2d atleast_3d average broadcast_arrays
    broadcast_to choose clip column_stack concatenate copy count_nonzero cross cumprod cumsum diag
    diagflat diagonal diff digitize dot dstack einsum empty empty_like expand_dims eye fix flip
    fliplr flipud full full_like hsplit hstack i0 identity imag in1d inner interp isclose
    iscomplexobj isin isneginf isposinf isreal isrealobj kron lexsort linspace logspace matmul max
    mean median meshgrid min moveaxis nan_to_num nanmax nanmin nansum ndim ones ones_like outer pad
    partition percentile place prod ptp put putmask quantile ravel real repeat reshape roll rollaxis
    rot90 round searchsorted shape sinc size sort split squeeze stack std sum swapaxes take
    take_along_axis tensordot tile trace transpose tri tril triu unwrap vander var vdot vsplit
    vstack where zeros zeros_like bincount nonzero flatnonzero argwhere unique unravel_index extract
    compress histogram setdiff1d union1d intersect1d ravel_multi_index fill_diagonal copyto
    """.split()
)
_SYNCHRONISING = frozenset(  # the host waits for the device
    """
    argwhere bincount compress extract flatnonzero histogram intersect1d nonzero ravel_multi_index
    setdiff1d union1d unique unravel_index
    """.split()
)
_HOST = frozenset(
    """
    broadcast_shapes can_cast dtype e finfo iinfo inf issubdtype nan ndindex newaxis pi result_type
    """.split()
)
_LINALG = frozenset(
    """
    cholesky cond det eigh eigvalsh inv lstsq matrix_power matrix_rank norm pinv qr slogdet solve
    svd tensorinv tensorsolve
    """.split()
)
_FFT = frozenset(
    """
    fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft
    rfft2 rfftfreq rfftn
    """.split()
)
_AT_TYPES = {
    **dict.fromkeys(("maximum", "minimum"), "ilIfdLQq"),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), "ilILQq"),
    "add": "ilqIefdFDLQ",
    "subtract": "iI",
}
_REDUCTIONS = frozenset("add.reduce multiply.reduce add.accumulate multiply.accumulate".split())


class _Ufunc:
    def __init__(self, gpu: Any, ufunc: Any) -> None:
        self._gpu = gpu
        self._ufunc = ufunc
        self.__name__ = ufunc.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return launch(self._gpu, self.__name__, self._ufunc, *args, **kwargs)

    def at(self, array: FakeArray, at: Any, value: Any) -> None:
        name = f"{self.__name__}.at"
        if array.dtype.char not in _AT_TYPES.get(self.__name__, ""):
            raise TypeError(f"cupy has no {name} for {array.dtype}")

        def update(values: Any, at: Any, value: Any) -> None:
            self._ufunc.at(values, wrapped(values, at), value)

        launch(self._gpu, name, update, array, no_lists(at), value)

    def __getattr__(self, method: str) -> Any:
        name = f"{self.__name__}.{method}"
        if name not in _REDUCTIONS:
            raise AttributeError(f"cupy has no {name}")
        fn = getattr(self._ufunc, method)
        return lambda *args, **kwargs: launch(self._gpu, name, fn, *args, **kwargs)


class _Submodule:
    def __init__(self, gpu: Any, of: Any, names: frozenset[str], waits: bool) -> None:
        self._gpu = gpu
        self._of = of
        self._names = names
        self._waits = waits

    def __getattr__(self, name: str) -> Any:
        if name not in self._names:
            raise AttributeError(f"cupy has no {self._of.__name__}.{name}")
        if self._waits:
            self._gpu.must_be_allowed(f"{name} with a check of its success")
        return lambda *args, **kwargs: launch(
            self._gpu, name, getattr(self._of, name), *args, **kwargs
        )


class _Lib:
    """cupy.lib, of which kernels need one function."""

    def __init__(self, gpu: Any) -> None:
        self.stride_tricks = _Submodule(gpu, np.lib.stride_tricks, frozenset(["as_strided"]), False)


class FakeModule:
    """The array module of one fake GPU: cupy's names, so far as NumPy has them too."""

    ndarray = FakeArray

    def __init__(self, gpu: Any) -> None:
        self.gpu = gpu
        self.cuda = FakeCuda(gpu)
        self.linalg = _Submodule(gpu, np.linalg, _LINALG, True)
        self.lib = _Lib(gpu)
        self.fft = _Submodule(gpu, np.fft, _FFT, False)

    def __getattr__(self, name: str) -> Any:
        made = self._made(name)
        self.__dict__[name] = made
        return made

    def _made(self, name: str) -> Any:
        found = getattr(np, name, None)
        if name in _UFUNCS:
            return _Ufunc(self.gpu, found)
        scalar_type = isinstance(found, type) and issubclass(found, np.generic)
        if scalar_type or name in _HOST:
            return found
        if name not in _FUNCTIONS:
            raise AttributeError(f"cupy has no {name}, or kernels never needed it")
        return self._function(name, {"empty": empty, "take": _take}.get(name, found))

    def _function(self, name: str, fn: Any) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            if name in _SYNCHRONISING or name == "where" and len(args) == 1:
                self.gpu.must_be_allowed(name)
            return launch(self.gpu, name, fn, *args, **kwargs)

        return call

    def asarray(self, values: Any, dtype: Any = None) -> FakeArray:
        """The values on the device: a copy if they were on the host."""
        if isinstance(values, FakeArray):
            same = dtype is None or values.dtype == dtype
            return values if same else values.astype(dtype)  # type: ignore[attr-defined]
        made = np.array(self._staged(values), dtype, subok=False)
        if made.dtype == object:
            raise TypeError(f"asarray: Unsupported type {type(values)}")
        self.gpu.count("brought_up")
        return launch(self.gpu, "asarray", lambda: made)  # type: ignore[no-any-return]

    def _staged(self, values: Any) -> Any:
        """The host's values as the device reads them: of pinned memory there is no copy between."""
        if isinstance(values, PinnedArray):
            return values.read_by(self.gpu.current_stream("asarray"))
        if (
            isinstance(values, np.ndarray)
            and values.ndim
            and isinstance(root_of(values), PinnedArray)
        ):
            raise OutOfOrder("the device reads pinned memory that the host may write to before")
        return values

    def array(self, values: Any, dtype: Any = None) -> FakeArray:
        made = self.asarray(values, dtype)
        return made.copy() if made is values else made  # type: ignore[attr-defined,no-any-return]

    def asnumpy(
        self, array: FakeArray, *, out: PinnedArray | None = None, blocking: bool = True
    ) -> np.ndarray[Any, Any]:
        """The values on the host, once the device has come that far; that is waited for if it is
        blocking."""
        self.gpu.count("brought_down")
        stream = self.gpu.current_stream("asnumpy")
        pinned = self.empty_pinned(array.shape, array.dtype) if out is None else out
        array.memory.reading(stream.begin("asnumpy"), stream.clock)
        pinned.written_by(stream, array.values.copy())
        if not blocking:
            return pinned
        stream.synchronize()
        return np.array(pinned, subok=False)

    def empty_pinned(self, shape: Any, dtype: Any) -> PinnedArray:
        """cupyx's."""
        return empty_pinned(shape, dtype, self.gpu.early)

    def fuse(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function as it is: there is nothing to gain here."""
        return function

    @contextmanager
    def synchronised(self) -> Iterator[None]:
        """The block may make the host wait for the device."""
        with self.gpu.allowing():
            yield

    def empty_like(self, like: FakeArray, dtype: Any = None) -> Any:
        return self.empty(like.shape, like.dtype if dtype is None else dtype)


def _take(a: Any, indices: Any, axis: int | None = None) -> Any:
    return np.take(a, indices, axis, mode="wrap")
