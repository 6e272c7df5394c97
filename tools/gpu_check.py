"""Is minitf right on this machine's GPU, and how fast: called by tools/gpu_check.sh.

Prints a table and writes the same as JSON. Exits 1 if anything is wrong, 3 without a GPU, 4 if it
was stopped because it took too long. With MINITF_FAKE_GPUS it rehearses on stand-ins, and the
speeds mean nothing. The rates of copies are in gpu_rates.py.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime"), str(ROOT / "tests")]

from gpu_rates import MB, check_rates  # noqa: E402

import minitf as tf  # noqa: E402
import minitf_runtime.ops  # noqa: E402, F401  fills the registry
from minitf.convert import const_of  # noqa: E402
from minitf.ops.apply import make_op  # noqa: E402
from minitf_runtime.devices.gpu import ALL_GPUS, find_gpus, why_none  # noqa: E402
from minitf_runtime.ops.registry import find_kernel  # noqa: E402

TOLERANCE = {
    "float16": 2e-2,
    "float32": 1e-4,
    "float64": 1e-8,
    "complex64": 1e-4,
    "complex128": 1e-8,
}
SECONDS = 240  # that the table of ops may take: each kernel is compiled at its first use
STOPPED = 4  # the exit status when time ran out
NO_GPU = tf.ConfigProto(device_count={"GPU": 0})


class Report:
    """Rows of what was checked. A row is right, wrong, or only a measurement."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def add(self, part: str, name: str, result: str, wrong: bool = False, **more: Any) -> None:
        self.rows.append({"part": part, "name": name, "result": result, "wrong": wrong, **more})
        print(f"{'WRONG' if wrong else '  ok '} {part:10} {name:34} {result}", flush=True)

    def check(self, part: str, name: str, act: Callable[[], str]) -> None:
        """Adds the text that `act` gives, or what it raised."""
        try:
            self.add(part, name, act())
        except Exception as e:  # a check that fails must not hide the others
            self.add(part, name, f"{type(e).__name__}: {str(e).strip().splitlines()[0]}", True)

    @property
    def wrong(self) -> int:
        return sum(row["wrong"] for row in self.rows)


# ---- the table of ops


def cases() -> Iterator[tuple[str, Any]]:
    """The cases of tests/ops/cases whose kernel computes on the device."""
    from ops.cases import every

    for name, of_op in every("CASES").items():
        for case in of_op:
            with tf.Graph().as_default():
                op = made(name, case, "/gpu:0")
            kernel = find_kernel(name, op._attrs, "GPU")
            if kernel is not None and not kernel.on_host:
                yield name, case


def made(name: str, case: Any, device: str) -> Any:
    with tf.device("/cpu:0"):
        inputs = [
            [const_of(x) for x in v] if isinstance(v, list) else const_of(v) for v in case.inputs
        ]
    with tf.device(device):
        return make_op(name, *inputs, **case.attrs)


def results(name: str, case: Any, device: str) -> list[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(list(made(name, case, device).outputs))


def check_ops(report: Report, seconds: float) -> None:
    end = time.monotonic() + seconds
    ran = late = 0
    for name, case in cases():
        if time.monotonic() > end:
            late += 1
            continue
        ran += 1
        try:
            pairs = zip(results(name, case, "/gpu:0"), results(name, case, "/cpu:0"))
            for got, wanted in pairs:
                compare(got, wanted)
        except Exception as e:
            report.add("ops", name, f"{type(e).__name__}: {str(e).strip()[:200]}", True)
    text = f"{ran} cases equal to numpy's" if not report.wrong else f"{ran} cases"
    report.add("ops", "the table", text + f", {late} left out for lack of time" * bool(late))


def compare(got: Any, wanted: Any) -> None:
    """Raises AssertionError where type, shape or values differ."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.dtype == wanted.dtype, f"type {got.dtype}, not {wanted.dtype}"
    tolerance = TOLERANCE.get(str(wanted.dtype), 0)
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


# ---- programs


def check_optimizers(report: Report) -> None:
    from data.optimizers.record import FORMS, OPTIMIZERS, run

    data = ROOT / "tests" / "data" / "optimizers" / "runs.json.gz"
    recorded = json.loads(gzip.decompress(data.read_bytes()))

    def one(optimizer: str) -> str:
        for form in FORMS:
            tf.reset_default_graph()
            for got, real in zip(
                run(tf, optimizer, form)["after"], recorded[f"{optimizer} {form}"]["after"]
            ):
                for name in real:
                    np.testing.assert_allclose(got[name], real[name], rtol=1e-4, atol=1e-5)
        return f"as TensorFlow 1.15, in {len(FORMS)} forms"

    for optimizer in OPTIMIZERS:
        report.check("optimizers", optimizer, lambda optimizer=optimizer: one(optimizer))


def check_digits(report: Report) -> None:
    """The demo's workers take the GPU; its parameter servers do not."""

    def demo() -> str:
        command = [sys.executable, "-m", "minitf", "demo", "--quick", "--ps", "1", "--workers", "1"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT)
        assert done.returncode == 0, done.stderr[-300:]
        return next(line.strip() for line in done.stdout.splitlines() if "accuracy" in line)

    report.check("programs", "digits, ps and worker", demo)


# ---- speed


def mlp_large_adam() -> Any:
    x = tf.constant(np.random.default_rng(1).random((128, 784), np.float32))
    h = x
    for i, (a, b) in enumerate(((784, 1024), (1024, 1024), (1024, 10))):
        w = tf.get_variable(f"w{i}", [a, b], initializer=tf.random_normal_initializer(0, a**-0.5))
        h = tf.matmul(h, w) if i == 2 else tf.nn.relu(tf.matmul(h, w))
    loss = tf.reduce_mean(
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.ones_like(h), logits=h)
    )
    return tf.train.AdamOptimizer(1e-4).minimize(loss)


def cnn_lenet() -> Any:
    h = tf.constant(np.random.default_rng(1).random((64, 28, 28, 1), np.float32))
    for i, (a, b) in enumerate(((1, 32), (32, 64))):
        k = tf.get_variable(f"k{i}", [5, 5, a, b], initializer=tf.random_normal_initializer(0, 0.1))
        h = tf.nn.relu(tf.nn.conv2d(h, k, [1, 1, 1, 1], "SAME"))
        h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    w = tf.get_variable("w", [7 * 7 * 64, 10], initializer=tf.random_normal_initializer(0, 0.02))
    logits = tf.matmul(tf.reshape(h, [64, -1]), w)
    return tf.train.AdamOptimizer(1e-4).minimize(tf.reduce_mean(tf.square(logits)))


def elementwise() -> Any:
    x = tf.Variable(np.random.default_rng(1).random(1 << 20, np.float32))
    y = tf.reduce_sum(tf.tanh(x * 2 + 1) * tf.exp(-x) + tf.sqrt(x + 1) / (1 + tf.square(x)))
    return tf.reduce_sum(tf.gradients(y, x)[0])


def check_speed(report: Report, steps: int) -> None:
    for program in (mlp_large_adam, cnn_lenet, elementwise):

        def both(program: Callable[[], Any] = program) -> str:
            cpu, gpu = step_ms(program, NO_GPU, steps), step_ms(program, None, steps)
            return f"{cpu:8.2f} ms a step on the CPU, {gpu:8.2f} on the GPU"

        report.check("speed", program.__name__, both)


def step_ms(program: Callable[[], Any], config: Any, steps: int) -> float:
    """The median of a few rounds; a value that is fetched ends each, behind all in the stream."""
    with tf.Graph().as_default():
        target = program()
        done = tf.random.uniform([])
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            session.run([target, done])
            rounds = []
            for _ in range(3):
                start = time.perf_counter()
                for _ in range(steps):
                    session.run(target)
                session.run(done)
                rounds.append((time.perf_counter() - start) * 1000 / steps)
    return statistics.median(rounds)


# ---- all of it


def check_all(report: Report, quick: bool) -> None:
    """Runs every part; one that fails is a wrong row, and the next ones run."""
    parts: dict[str, Callable[[], None]] = {
        "ops": lambda: check_ops(report, 20 if quick else SECONDS),
        "optimizers": lambda: check_optimizers(report),
        "programs": lambda: check_digits(report),
        "speed": lambda: check_speed(report, 1 if quick else 20),
        "copies": lambda: check_rates(report, (1 if quick else 256) * MB),
    }
    for part, act in parts.items():
        print(f"---- {part}", flush=True)
        try:
            act()
        except Exception as e:
            report.add(part, "all of it", f"{type(e).__name__}: {str(e).strip()[:200]}", True)


def write_whole(path: Path, value: Any) -> None:
    """Writes JSON: the whole of it is there, or what was there before."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(json.dumps(value, indent=1))
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def within(seconds: float, command: list[str]) -> int:
    """Runs a command; its exit status, or STOPPED if time ran out. Nothing of it stays behind."""
    child = subprocess.Popen(command, start_new_session=True)
    try:
        return child.wait(seconds)
    except subprocess.TimeoutExpired:
        text = "the last line above tells how far it came; no JSON was written"
        print(f"gpu_check: stopped after {seconds:g} s: {text}", file=sys.stderr)
        return STOPPED
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def check(out: Path, quick: bool) -> int:
    if not len(find_gpus(ALL_GPUS)):
        print(f"gpu_check: no GPU: {why_none() or 'no NVIDIA driver is here'}", file=sys.stderr)
        return 3
    out.unlink(missing_ok=True)  # what is there afterwards is of this run
    report = Report()
    started = time.monotonic()
    check_all(report, quick)
    seconds = time.monotonic() - started
    write_whole(out, {"seconds": seconds, "rows": report.rows})
    print(f"{report.wrong} wrong, {seconds:.0f} s; written to {out}")
    return 1 if report.wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="gpu_check.json", type=Path, help="where the JSON goes")
    parser.add_argument("--quick", action="store_true", help="small sizes, for a rehearsal")
    parser.add_argument("--limit", default=480.0, type=float, help="seconds until it is stopped")
    parser.add_argument("--unlimited", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.unlimited:
        return check(args.out, args.quick)
    return within(args.limit, [sys.executable, __file__, *sys.argv[1:], "--unlimited"])


if __name__ == "__main__":
    sys.exit(main())
