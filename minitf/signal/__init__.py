"""tf.signal: Fourier and cosine transforms, of whole signals and of their frames."""

from minitf.ops.spectral import (
    fft,
    fft2d,
    fft3d,
    ifft,
    ifft2d,
    ifft3d,
    irfft,
    irfft2d,
    irfft3d,
    rfft,
    rfft2d,
    rfft3d,
)
from minitf.signal.cosine import dct, fftshift, idct, ifftshift
from minitf.signal.frames import frame, overlap_and_add
from minitf.signal.mel import linear_to_mel_weight_matrix, mfccs_from_log_mel_spectrograms
from minitf.signal.stft import inverse_stft, inverse_stft_window_fn, stft
from minitf.signal.windows import hamming_window, hann_window

__all__ = [
    "dct", "fft", "fft2d", "fft3d", "fftshift", "frame", "hamming_window", "hann_window", "idct",
    "ifft", "ifft2d", "ifft3d", "ifftshift", "inverse_stft", "inverse_stft_window_fn", "irfft",
    "irfft2d", "irfft3d", "linear_to_mel_weight_matrix", "mfccs_from_log_mel_spectrograms",
    "overlap_and_add", "rfft", "rfft2d", "rfft3d", "stft",
]  # fmt: skip
