"""tf.spectral; tf.signal has the same names."""

from minitf.ops.left_out import left_out
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

dct = left_out("spectral.dct")
idct = left_out("spectral.idct")
