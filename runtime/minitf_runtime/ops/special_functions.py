"""Special functions of float64 arrays, whole arrays at a time: `f(xp, ...)`, operands of one shape.

Approximations: erf and erfc from Cephes (Moshier, 1989); gamma functions by Stirling's series after
a shift; incomplete gamma and beta by series and by continued fractions (Lentz' method); zeta by the
Euler-Maclaurin formula; Bessel functions by their power and asymptotic series.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitf_runtime.devices.arrays import synchronised

_EPS = 2.0**-52
_TINY = 1e-300
_MAX_ROUNDS = 10_000
_ROUNDS_ON_GPU = 16  # between two looks at how far it is


def _polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """Horner's rule, highest power first."""
    out = coefficients[0]
    for c in coefficients[1:]:
        out = out * x + c
    return out


# ---- error functions

_ERF_P = (
    9.60497373987051638749, 9.00260197203842689217e1, 2.23200534594684319226e3,
    7.00332514112805075473e3, 5.55923013010394962768e4,
)  # fmt: skip
_ERF_Q = (
    1.0, 3.35617141647503099647e1, 5.21357949780152679795e2, 4.59432382970980127987e3,
    2.26290000613890934246e4, 4.92673942608635921086e4,
)  # fmt: skip
_ERFC_P = (
    2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687,
    4.86371970985681366614e1, 1.96520832956077098242e2, 5.26445194995477358631e2,
    9.34528527171957607540e2, 1.02755188689515710272e3, 5.57535335369399327526e2,
)  # fmt: skip
_ERFC_Q = (
    1.0, 1.32281951154744992508e1, 8.67072140885989742329e1, 3.54937778887819891062e2,
    9.75708501743205489753e2, 1.82390916687909736289e3, 2.24633760818710981792e3,
    1.65666309194161350182e3, 5.57535340817727675546e2,
)  # fmt: skip
_ERFC_FAR_P = (
    5.64189583547755073984e-1, 1.27536670759978104416, 5.01905042251180477414,
    6.16021097993053585195, 7.40974269950448939160, 2.97886665372100240670,
)  # fmt: skip
_ERFC_FAR_Q = (
    1.0, 2.26052863220117276590, 9.39603524938001434673, 1.20489539808096656605e1,
    1.70814450747565897222e1, 9.60896809063285878198, 3.36907645100081516050,
)  # fmt: skip


def _erf_near(xp: Any, x: Any) -> Any:
    """erf for |x| < 1."""
    x = xp.clip(x, -1, 1)
    return x * _polynomial(x * x, _ERF_P) / _polynomial(x * x, _ERF_Q)


def _erfc_far(xp: Any, a: Any) -> Any:
    """erfc for a >= 1."""
    a = xp.clip(a, 1, 40)
    near = _polynomial(a, _ERFC_P) / _polynomial(a, _ERFC_Q)
    far = _polynomial(a, _ERFC_FAR_P) / _polynomial(a, _ERFC_FAR_Q)
    return xp.exp(-a * a) * xp.where(a < 8, near, far)


def erf(xp: Any, x: Any) -> Any:
    far = xp.sign(x) * (1 - _erfc_far(xp, xp.abs(x)))
    return xp.where(xp.abs(x) < 1, _erf_near(xp, x), far)


def erfc(xp: Any, x: Any) -> Any:
    far = _erfc_far(xp, xp.abs(x))
    return xp.where(xp.abs(x) < 1, 1 - _erf_near(xp, x), xp.where(x < 0, 2 - far, far))


# ---- gamma functions

_SHIFT = 10  # the series are used from here on
_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_LGAMMA_SERIES = tuple(b / ((2 * k + 1) * (2 * k + 2)) for k, b in enumerate(_BERNOULLI))[::-1]
_DIGAMMA_SERIES = tuple(b / (2 * k + 2) for k, b in enumerate(_BERNOULLI))[::-1]


def _lgamma_positive(xp: Any, x: Any) -> Any:
    low = x < _SHIFT
    big = xp.where(low, x + _SHIFT, x)
    product = 1.0
    for i in range(_SHIFT):
        product = product * (x + i)
    series = _polynomial(1 / (big * big), _LGAMMA_SERIES) / big
    out = (big - 0.5) * xp.log(big) - big + _HALF_LOG_2PI + series
    return xp.where(low, out - xp.log(product), xp.where(xp.isinf(x), xp.inf, out))


def lgamma(xp: Any, x: Any) -> Any:
    """The logarithm of |gamma(x)|; inf at 0, -1, -2 ..."""
    fraction = x - xp.floor(x)
    mirrored = xp.log(xp.pi / xp.abs(xp.sin(xp.pi * fraction))) - _lgamma_positive(xp, 1 - x)
    mirrored = xp.where((fraction == 0) | xp.isinf(x), xp.inf, mirrored)
    return xp.where(x > 0, _lgamma_positive(xp, x), mirrored)


def _digamma_positive(xp: Any, x: Any) -> Any:
    low = x < _SHIFT
    big = xp.where(low, x + _SHIFT, x)
    series = _polynomial(1 / (big * big), _DIGAMMA_SERIES) / (big * big)
    out = xp.log(big) - 0.5 / big - series
    return xp.where(low, out - sum(1 / (x + i) for i in range(_SHIFT)), out)


def digamma(xp: Any, x: Any) -> Any:
    """The derivative of lgamma; inf at 0, -1, -2 ..."""
    fraction = x - xp.floor(x)
    mirrored = _digamma_positive(xp, 1 - x) - xp.pi / xp.tan(xp.pi * fraction)
    mirrored = xp.where((fraction == 0) | xp.isinf(x), xp.inf, mirrored)
    return xp.where(x > 0, _digamma_positive(xp, x), mirrored)


# ---- incomplete gamma functions: P(a, x) and Q(a, x) = 1 - P(a, x)


def _lower_series(xp: Any, a: Any, x: Any) -> tuple[Any, Any]:
    """S and dS/da, where P = x^a e^-x / gamma(a + 1) S; for x < max(a, 1)."""
    term, total = xp.ones_like(x), xp.ones_like(x)
    log_slope, slope = xp.zeros_like(x), xp.zeros_like(x)
    for n in range(1, _MAX_ROUNDS):
        term = term * x / (a + n)
        log_slope = log_slope - 1 / (a + n)
        total = total + term
        slope = slope + term * log_slope
        if _all(xp, term <= _EPS / 4 * total, n):
            break
    return total, slope


def _all(xp: Any, done: Any, n: int) -> bool:
    """Whether round n of an iteration was the last one; a GPU is waited for now and then only."""
    if xp is not np and n % _ROUNDS_ON_GPU:
        return False
    with synchronised(xp):
        return bool(done.all())


def _away_from_zero(xp: Any, x: Any) -> Any:
    return xp.where(xp.abs(x) < _TINY, _TINY, x)


def _upper_fraction(xp: Any, a: Any, x: Any) -> tuple[Any, Any]:
    """H and dH/da, where Q = x^a e^-x / gamma(a) H; for x >= max(a, 1)."""
    b = x + 1 - a
    d = 1 / _away_from_zero(xp, b)
    c, h = xp.full_like(x, 1 / _TINY), d
    c_slope, d_slope = xp.zeros_like(x), d * d
    h_slope = d_slope
    for n in range(1, _MAX_ROUNDS):
        b = b + 2
        numerator = -n * (n - a)
        d_new = 1 / _away_from_zero(xp, b + numerator * d)
        d_slope = -(n * d + numerator * d_slope - 1) * d_new * d_new
        c_slope = n / c - numerator * c_slope / (c * c) - 1
        c = _away_from_zero(xp, b + numerator / c)
        d = d_new
        factor, factor_slope = c * d, c_slope * d + c * d_slope
        h_slope = h_slope * factor + h * factor_slope
        h = h * factor
        if _all(xp, xp.abs(factor - 1) < 2 * _EPS, n):
            break
    return h, h_slope


def _incomplete_gamma(xp: Any, a: Any, x: Any) -> tuple[Any, Any, Any]:
    """P, Q and dP/da for a > 0 and finite x > 0."""
    p, slope = xp.empty_like(x), xp.empty_like(x)
    series = (x < 1) | (x < a)
    q = xp.empty_like(x)
    log_x = xp.log(x)
    scale = xp.exp(a * log_x - x - lgamma(xp, a))
    psi = digamma(xp, a)
    with synchronised(xp):
        for where, method in ((series, _lower_series), (~series, _upper_fraction)):
            if not where.any():
                continue
            value, value_slope = method(xp, a[where], x[where])
            factor = scale[where]
            log_slope = log_x[where] - psi[where]
            if method is _lower_series:
                factor = factor / a[where]
                log_slope = log_slope - 1 / a[where]
                p[where] = factor * value
                q[where] = 1 - p[where]
                slope[where] = factor * (value * log_slope + value_slope)
            else:
                q[where] = factor * value
                p[where] = 1 - q[where]
                slope[where] = -factor * (value * log_slope + value_slope)
    return p, q, slope


def _igamma_of(xp: Any, a: Any, x: Any, which: int, at_zero: float, at_inf: float) -> Any:
    good = (a > 0) & (x > 0) & xp.isfinite(x) & xp.isfinite(a)
    out = _incomplete_gamma(xp, xp.where(good, a, 1), xp.where(good, x, 1))[which]
    edge = xp.where(x == 0, at_zero, xp.where(xp.isinf(x) & (x > 0), at_inf, xp.nan))
    return xp.where(good, out, xp.where(a > 0, edge, xp.nan))


def igamma(xp: Any, a: Any, x: Any) -> Any:
    """The regularised lower incomplete gamma function P(a, x)."""
    return xp.where(x == 0, 0.0, _igamma_of(xp, a, x, 0, 0.0, 1.0))


def igammac(xp: Any, a: Any, x: Any) -> Any:
    """The regularised upper incomplete gamma function Q(a, x)."""
    return _igamma_of(xp, a, x, 1, 1.0, 0.0)


def igamma_grad_a(xp: Any, a: Any, x: Any) -> Any:
    """dP(a, x)/da."""
    return _igamma_of(xp, a, x, 2, 0.0, 0.0)


def random_gamma_grad(xp: Any, alpha: Any, sample: Any) -> Any:
    """How a gamma sample moves with alpha while its P(alpha, sample) stays."""
    density = xp.exp((alpha - 1) * xp.log(sample) - sample - lgamma(xp, alpha))
    return -igamma_grad_a(xp, alpha, sample) / density


# ---- zeta and polygamma

_FACTORIALS_OVER_BERNOULLI = tuple(math.factorial(2 * k + 2) / b for k, b in enumerate(_BERNOULLI))


def zeta(xp: Any, x: Any, q: Any) -> Any:
    """Hurwitz' zeta function: the sum of (q + k)^-x over k = 0, 1, 2 ..."""
    poles = (x == 1) | ((q <= 0) & (q == xp.floor(q)))
    outside = (x < 1) | ((q <= 0) & (x != xp.floor(x))) | xp.isnan(x) | xp.isnan(q)
    good = ~(poles | outside)
    s, base = xp.where(good, x, 2.0), xp.where(good, q, 1.0)
    total = xp.zeros_like(s)
    for n in range(_MAX_ROUNDS):
        low = base <= _SHIFT
        if _all(xp, ~low, n):
            break
        total = xp.where(low, total + xp.power(base, -s), total)
        base = xp.where(low, base + 1, base)
    power = xp.power(base, -s)
    total = total + power * base / (s - 1) + power / 2
    factor = s
    for k, ratio in enumerate(_FACTORIALS_OVER_BERNOULLI):
        power = power / base
        total = total + factor * power / ratio
        factor = factor * (s + 2 * k + 1) * (s + 2 * k + 2)
        power = power / base
    return xp.where(poles & ~(x < 1), xp.inf, xp.where(outside, xp.nan, total))


def polygamma(xp: Any, n: Any, x: Any) -> Any:
    """The n-th derivative of digamma, for n = 0, 1, 2 ..."""
    whole = (n == xp.floor(n)) & (n >= 0)
    order = xp.where(whole & (n > 0), n, 1.0)
    sign = xp.where(order % 2 == 0, -1.0, 1.0)
    out = sign * xp.exp(lgamma(xp, order + 1)) * zeta(xp, order + 1, x)
    return xp.where(n == 0, digamma(xp, x), xp.where(whole, out, xp.nan))


# ---- incomplete beta function


def _beta_fraction(xp: Any, a: Any, b: Any, x: Any) -> Any:
    """The continued fraction of the incomplete beta function, for x < (a + 1) / (a + b + 2)."""
    c = xp.ones_like(x)
    d = 1 / _away_from_zero(xp, 1 - (a + b) * x / (a + 1))
    h = d
    for m in range(1, _MAX_ROUNDS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for numerator in (even, odd):
            d = 1 / _away_from_zero(xp, 1 + numerator * d)
            c = _away_from_zero(xp, 1 + numerator / c)
            h = h * c * d
        if _all(xp, xp.abs(c * d - 1) < 2 * _EPS, m):
            break
    return h


def betainc(xp: Any, a: Any, b: Any, x: Any) -> Any:
    """The regularised incomplete beta function I_x(a, b)."""
    good = (a > 0) & (b > 0) & (x > 0) & (x < 1)
    p, q, y = xp.where(good, a, 1.0), xp.where(good, b, 1.0), xp.where(good, x, 0.5)
    log_beta = lgamma(xp, p) + lgamma(xp, q) - lgamma(xp, p + q)
    scale = xp.exp(p * xp.log(y) + q * xp.log1p(-y) - log_beta)
    swap = y >= (p + 1) / (p + q + 2)
    first, second = xp.where(swap, q, p), xp.where(swap, p, q)
    part = scale * _beta_fraction(xp, first, second, xp.where(swap, 1 - y, y)) / first
    edge = xp.where((a > 0) & (b > 0) & ((x == 0) | (x == 1)), x, xp.nan)
    return xp.where(good, xp.where(swap, 1 - part, part), edge)


# ---- Bessel functions, scaled by exp(-|x|)

_ASYMPTOTIC_FROM = 30.0


def _scaled_bessel(order: int) -> Callable[..., Any]:
    def bessel(xp: Any, x: Any) -> Any:
        size = xp.abs(x)
        near = xp.minimum(size, _ASYMPTOTIC_FROM)
        term = xp.exp(-near) * (near / 2) ** order
        total = term
        for k in range(1, 90):
            term = term * (near * near / 4) / (k * (k + order))
            total = total + term
        far = xp.maximum(size, _ASYMPTOTIC_FROM)
        share, series = xp.ones_like(far), xp.ones_like(far)
        for k in range(1, 20):
            share = share * ((2 * k - 1) ** 2 - 4 * order * order) / (k * 8 * far)
            series = series + share
        out = xp.where(size < _ASYMPTOTIC_FROM, total, series / xp.sqrt(2 * xp.pi * far))
        return out * xp.sign(x) if order else xp.where(xp.isnan(x), xp.nan, out)

    return bessel


bessel_i0e = _scaled_bessel(0)
bessel_i1e = _scaled_bessel(1)
