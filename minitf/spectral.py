"""tf.spectral: the transforms of tf.signal under their old name."""

from minitf.lazily import lazily as _lazily
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

__getattr__, __dir__ = _lazily(globals(), {"minitf.signal": "dct idct"})
