"""Update rules of the optimizers: what each does with a variable, its slots and a gradient.

Each rule is written once, in place on arrays, and serves its four ops (Apply*, ResourceApply*,
SparseApply*, ResourceSparseApply*); how these are declared and run is in training_rules.py.
"""

from __future__ import annotations

from typing import Any

from minitf_runtime.ops.training_rules import rule


@rule("GradientDescent", "var", "alpha delta", sparse=False)
def gradient_descent(xp: Any, var: Any, alpha: Any, delta: Any) -> None:
    var -= delta * alpha


@rule("Momentum", "var accum", "lr grad momentum", use_nesterov=False)
def momentum(
    xp: Any, var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, *, use_nesterov: bool
) -> None:
    accum *= momentum
    accum += grad
    if use_nesterov:
        var -= grad * lr + accum * momentum * lr
    else:
        var -= accum * lr


@rule("KerasMomentum", "var accum", "lr grad momentum", by_ref=False, use_nesterov=False)
def keras_momentum(
    xp: Any, var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, *, use_nesterov: bool
) -> None:
    step = grad * lr
    accum *= momentum
    accum -= step
    var += accum * momentum - step if use_nesterov else accum


@rule("Adagrad", "var accum", "lr grad", update_slots=True)
def adagrad(xp: Any, var: Any, accum: Any, lr: Any, grad: Any, *, update_slots: bool) -> None:
    if update_slots:
        accum += xp.square(grad)
    step = grad * lr
    step /= xp.sqrt(accum)
    var -= step


@rule("AdagradV2", "var accum", "lr epsilon grad", update_slots=True)
def adagrad_v2(
    xp: Any, var: Any, accum: Any, lr: Any, epsilon: Any, grad: Any, *, update_slots: bool
) -> None:
    if update_slots:
        accum += xp.square(grad)
    _take_scaled_step(xp, var, grad * lr, accum, epsilon)


@rule(
    "AdagradDA",
    "var gradient_accumulator gradient_squared_accumulator",
    "grad lr l1 l2 global_step",
)
def adagrad_da(
    xp: Any, var: Any, total: Any, squares: Any, grad: Any, lr: Any, l1: Any, l2: Any, step: Any
) -> None:
    total += grad
    squares += xp.square(grad)
    count = var.dtype.type(step)
    down = -lr * _shrunk(xp, total, l1 * count)
    var[...] = down / (l2 * count * lr + xp.sqrt(squares))


@rule("Adadelta", "var accum accum_update", "lr rho epsilon grad")
def adadelta(
    xp: Any, var: Any, accum: Any, accum_update: Any, lr: Any, rho: Any, epsilon: Any, grad: Any
) -> None:
    one = var.dtype.type(1)
    accum *= rho
    accum += xp.square(grad) * (one - rho)
    update = xp.sqrt(accum_update + epsilon)
    update /= xp.sqrt(accum + epsilon)
    update *= grad
    var -= update * lr
    accum_update *= rho
    accum_update += xp.square(update) * (one - rho)


@rule(
    "Adam",
    "var m v",
    "beta1_power beta2_power lr beta1 beta2 epsilon grad",
    sparse=False,
    use_nesterov=False,
)
def adam(
    xp: Any, var: Any, m: Any, v: Any, beta1_power: Any, beta2_power: Any, lr: Any, beta1: Any,
    beta2: Any, epsilon: Any, grad: Any, *, use_nesterov: bool,
) -> None:  # fmt: skip
    one = var.dtype.type(1)
    rate = lr * xp.sqrt(one - beta2_power) / (one - beta1_power)
    _towards(m, grad, one - beta1)
    _towards(v, xp.square(grad), one - beta2)
    step = m * beta1 + grad * (one - beta1) if use_nesterov else m
    _take_scaled_step(xp, var, step * rate, v, epsilon)


@rule(
    "AdamWithAmsgrad",
    "var m v vhat",
    "beta1_power beta2_power lr beta1 beta2 epsilon grad",
    by_ref=False,
    sparse=False,
)
def adam_with_amsgrad(
    xp: Any, var: Any, m: Any, v: Any, vhat: Any, beta1_power: Any, beta2_power: Any, lr: Any,
    beta1: Any, beta2: Any, epsilon: Any, grad: Any,
) -> None:  # fmt: skip
    one = var.dtype.type(1)
    rate = lr * xp.sqrt(one - beta2_power) / (one - beta1_power)
    _towards(m, grad, one - beta1)
    _towards(v, xp.square(grad), one - beta2)
    xp.maximum(vhat, v, out=vhat)
    _take_scaled_step(xp, var, m * rate, vhat, epsilon)


@rule("AdaMax", "var m v", "beta1_power lr beta1 beta2 epsilon grad", sparse=False)
def ada_max(
    xp: Any, var: Any, m: Any, v: Any, beta1_power: Any, lr: Any, beta1: Any, beta2: Any,
    epsilon: Any, grad: Any,
) -> None:  # fmt: skip
    one = var.dtype.type(1)
    _towards(m, grad, one - beta1)
    v *= beta2
    xp.maximum(v, xp.abs(grad), out=v)
    var -= lr / (one - beta1_power) * (m / (v + epsilon))


@rule("RMSProp", "var ms mom", "lr rho momentum epsilon grad")
def rms_prop(
    xp: Any, var: Any, ms: Any, mom: Any, lr: Any, rho: Any, momentum: Any, epsilon: Any, grad: Any
) -> None:
    _towards(ms, xp.square(grad), var.dtype.type(1) - rho)
    _take_rms_step(xp, var, mom, lr, momentum, grad, ms + epsilon)


@rule("CenteredRMSProp", "var mg ms mom", "lr rho momentum epsilon grad")
def centered_rms_prop(
    xp: Any, var: Any, mg: Any, ms: Any, mom: Any, lr: Any, rho: Any, momentum: Any, epsilon: Any,
    grad: Any,
) -> None:  # fmt: skip
    one = var.dtype.type(1)
    _towards(ms, xp.square(grad), one - rho)
    _towards(mg, grad, one - rho)
    _take_rms_step(xp, var, mom, lr, momentum, grad, ms - xp.square(mg) + epsilon)


def _take_rms_step(
    xp: Any, var: Any, mom: Any, lr: Any, momentum: Any, grad: Any, square: Any
) -> None:
    mom *= momentum
    mom += grad * lr / xp.sqrt(square)
    var -= mom


@rule("Ftrl", "var accum linear", "grad lr l1 l2 lr_power")
def ftrl(
    xp: Any, var: Any, accum: Any, linear: Any, grad: Any, lr: Any, l1: Any, l2: Any, lr_power: Any
) -> None:
    _follow_leader(xp, var, accum, linear, grad, grad, lr, l1, l2, lr_power)


@rule("FtrlV2", "var accum linear", "grad lr l1 l2 l2_shrinkage lr_power")
def ftrl_v2(
    xp: Any, var: Any, accum: Any, linear: Any, grad: Any, lr: Any, l1: Any, l2: Any,
    l2_shrinkage: Any, lr_power: Any,
) -> None:  # fmt: skip
    shrunk = grad + var * (l2_shrinkage + l2_shrinkage)
    _follow_leader(xp, var, accum, linear, grad, shrunk, lr, l1, l2, lr_power)


def _follow_leader(
    xp: Any, var: Any, accum: Any, linear: Any, grad: Any, toward: Any, lr: Any, l1: Any, l2: Any,
    lr_power: Any,
) -> None:  # fmt: skip
    """One FTRL-Proximal update. `toward`: the gradient that the linear term takes."""
    raised = accum + xp.square(grad)
    new_root, root = (
        xp.sqrt(a) if lr_power == -0.5 else xp.power(a, -lr_power) for a in (raised, accum)
    )
    linear += toward - (new_root - root) / lr * var
    accum[...] = raised
    pull = l1 * xp.sign(linear) - linear
    pull /= new_root / lr + (l2 + l2)
    var[...] = xp.where(xp.abs(linear) > l1, pull, var.dtype.type(0))


@rule("ProximalGradientDescent", "var", "alpha l1 l2 delta", "alpha l1 l2 grad")
def proximal_gradient_descent(xp: Any, var: Any, alpha: Any, l1: Any, l2: Any, delta: Any) -> None:
    _take_proximal_step(xp, var, alpha, l1, l2, delta)


@rule("ProximalAdagrad", "var accum", "lr l1 l2 grad")
def proximal_adagrad(xp: Any, var: Any, accum: Any, lr: Any, l1: Any, l2: Any, grad: Any) -> None:
    accum += xp.square(grad)
    _take_proximal_step(xp, var, lr / xp.sqrt(accum), l1, l2, grad)


def _take_proximal_step(xp: Any, var: Any, rate: Any, l1: Any, l2: Any, grad: Any) -> None:
    var -= grad * rate
    var[...] = _shrunk(xp, var, rate * l1)
    var /= var.dtype.type(1) + rate * l2


@rule("AddSign", "var m", "lr alpha sign_decay beta grad", sparse=False)
def add_sign(
    xp: Any, var: Any, m: Any, lr: Any, alpha: Any, sign_decay: Any, beta: Any, grad: Any
) -> None:
    var -= lr * (alpha + sign_decay * _agreement(xp, m, beta, grad)) * grad


@rule("PowerSign", "var m", "lr logbase sign_decay beta grad", sparse=False)
def power_sign(
    xp: Any, var: Any, m: Any, lr: Any, logbase: Any, sign_decay: Any, beta: Any, grad: Any
) -> None:
    var -= lr * xp.exp(logbase * sign_decay * _agreement(xp, m, beta, grad)) * grad


def _agreement(xp: Any, m: Any, beta: Any, grad: Any) -> Any:
    """Moves the mean gradient on; tells where it has the sign of the gradient."""
    m *= beta
    m += grad * (m.dtype.type(1) - beta)
    return xp.sign(grad) * xp.sign(m)


def _towards(mean: Any, value: Any, share: Any) -> None:
    """Moves a running mean towards a value."""
    change = value - mean
    change *= share
    mean += change


def _take_scaled_step(xp: Any, var: Any, step: Any, square: Any, epsilon: Any) -> None:
    """var -= step / (sqrt(square) + epsilon); the step is used up."""
    root = xp.sqrt(square)
    root += epsilon
    step /= root
    var -= step


def _shrunk(xp: Any, x: Any, by: Any) -> Any:
    """x brought nearer to zero by that much (soft thresholding)."""
    if not xp.any(by > 0):
        return x
    return xp.sign(x) * xp.maximum(xp.abs(x) - by, x.dtype.type(0))
