"""Cases of ops/spectral.py."""

from ops.cases import c64, case, ints, only_f32

_SHAPES = {"": (2, 4), "2D": (2, 3, 4), "3D": (2, 2, 3, 4)}


def _real(shape, rank, longer, make):
    """The signal's own length; a shorter one, for which TF has no gradient."""
    own, wide = shape[-rank:], shape[:-1] + (longer,)
    cut = case(make(*wide), ints(*own[:-1], own[-1] - 1))
    return [
        case(make(*shape[:-1], longer - 1), ints(*own)),
        cut.without("gradient", why="TF's gradient is for whole signals"),
    ]


CASES = {}
for _rank, (_end, _shape) in enumerate(_SHAPES.items(), 1):
    CASES[f"FFT{_end}"] = [case(c64(*_shape))]
    CASES[f"IFFT{_end}"] = [case(c64(*_shape))]
    CASES[f"RFFT{_end}"] = _real(_shape, _rank, 5, only_f32)
    CASES[f"IRFFT{_end}"] = _real(_shape, _rank, 4, c64)
