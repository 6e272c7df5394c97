"""The mel scale of frequencies, as hearing has it."""

from __future__ import annotations

from typing import Any

from minitf.convert import to_tensor
from minitf.default import name_scope
from minitf.operation import Tensor
from minitf.ops import array, math
from minitf.ops.constant_value import constant_value
from minitf.signal.cosine import dct
from minitf.signal.frames import frame
from minitf_runtime.types import float32

_BREAK_HERTZ = 700.0
_HIGH_Q = 1127.0


def _mel(hertz: Any) -> Tensor:
    with name_scope(None, "hertz_to_mel", [hertz]):
        hertz = to_tensor(hertz)
        return _HIGH_Q * math.log(1.0 + hertz / _BREAK_HERTZ)


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: int = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: Any = float32,
    name: str | None = None,
) -> Tensor:
    """[spectrogram bins, mel bins]: how much each frequency adds to each band of the mel scale."""
    with name_scope(name, "linear_to_mel_weight_matrix") as scope:
        if isinstance(sample_rate, Tensor):
            sample_rate = constant_value(sample_rate)
            if sample_rate is None:
                raise ValueError(
                    "`sample_rate` was a non-constant Tensor. Must be a Python float or a constant "
                    "Tensor."
                )
        _check(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
        rate = to_tensor(sample_rate, dtype, name="sample_rate")
        lower = to_tensor(lower_edge_hertz, dtype, name="lower_edge_hertz")
        upper = to_tensor(upper_edge_hertz, dtype, name="upper_edge_hertz")
        zero = to_tensor(0.0, dtype)
        frequencies = math.linspace(zero, rate / 2.0, num_spectrogram_bins)[1:]
        bins = array.expand_dims(_mel(frequencies), 1)
        edges = math.linspace(_mel(lower), _mel(upper), num_mel_bins + 2)
        bands = frame(edges, frame_length=3, frame_step=1)
        start, centre, end = (
            array.reshape(t, [1, num_mel_bins]) for t in array.split(bands, 3, axis=1)
        )
        rising = (bins - start) / (centre - start)
        falling = (end - bins) / (end - centre)
        weights = math.maximum(zero, math.minimum(rising, falling))
        return array.pad(weights, [[1, 0], [0, 0]], name=scope)


def _check(bins: int, rate: Any, lower: float, upper: float, dtype: Any) -> None:
    if bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {bins}")
    if rate <= 0.0:
        raise ValueError(f"sample_rate must be positive. Got: {rate}")
    if lower < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower}")
    if lower >= upper:
        raise ValueError(f"lower_edge_hertz {lower:.1f} >= upper_edge_hertz {upper:.1f}")
    if upper > rate / 2:
        raise ValueError(
            "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). "
            f"Got: {upper} for sample_rate: {rate}"
        )
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype}")


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Tensor:
    """Cepstral coefficients: the cosine transform of the logarithms of mel spectra."""
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        spectra = to_tensor(log_mel_spectrograms, float32)
        known = spectra.shape[-1].value if spectra.shape.ndims else None
        if known == 0:
            raise ValueError(f"num_mel_bins must be positive. Got: {spectra}")
        bins = array.shape(spectra)[-1] if known is None else known
        return dct(spectra, type=2) * math.rsqrt(math.cast(bins, float32) * 2.0)
