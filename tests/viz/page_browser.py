"""A page in headless Chromium, and what the tests of the page ask of it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from minitf.viz.page import render
from minitf.viz.page.data import model
from minitf_runtime.passes.data import Partitioned

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def chromium() -> str:
    """The path of a Chromium. Skips the test where there is none, or no driver for it."""
    pytest.importorskip("playwright.sync_api", reason="needs playwright (extra page-test)")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"needs a Chromium on the PATH, one of {', '.join(BROWSERS)}")
    return found


def launch(driver):
    """A browser. As root, in a container, Chromium's own sandbox cannot start."""
    args = ["--no-sandbox"] if os.geteuid() == 0 else []
    return driver.chromium.launch(executable_path=chromium(), args=args)


def write(cut: Partitioned, file: Path) -> str:
    """Writes the page of a step; its address."""
    file.write_text(render(model(cut, "tested.py")), "utf-8")
    return file.as_uri()


class Shown:
    """An open page. `faults` are console messages and errors, `asked` the addresses requested."""

    def __init__(self, browser, address: str, width=1280, height=800, **options) -> None:
        self.context = browser.new_context(viewport=dict(width=width, height=height), **options)
        self.faults: list[str] = []
        self.asked: list[str] = []
        self.page = page = self.context.new_page()
        page.on("console", lambda message: self.complain(message.text))
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(address)
        self.settle()

    def complain(self, text: str) -> None:
        if "getImageData" not in text:  # that is advice about `pixel` below
            self.faults.append(text)

    def settle(self) -> None:
        """Waits until the layout is done and drawn."""
        self.page.wait_for_function(
            "() => page.view.fitted && !page.canvas.hasAttribute('aria-busy')", timeout=50_000
        )
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => done()))")

    def where(self, key: str) -> dict[str, float] | None:
        """The box of an op ("op NAME") or a group in the window."""
        return self.page.evaluate("(key) => page.where(key)", key)

    def click(self, key: str, x: float | None = None, y: float = 0.5) -> None:
        """A click on a box: in its middle, or so many pixels from its left and top."""
        box = self.where(key)
        assert box, f"{key} is not seen"
        across = box["w"] / 2 if x is None else x
        self.page.mouse.click(box["x"] + across, box["y"] + (y if y > 1 else box["h"] * y))
        self.settle()

    def key_of(self, end: str) -> str:
        """The key of the group whose key ends so."""
        keys = self.page.evaluate("() => [...page.scene.tree.byKey.keys()]")
        (found,) = [key for key in keys if key.endswith(end)]
        return found

    def text(self, selector: str) -> str:
        return self.page.inner_text(selector)

    @property
    def panel(self) -> str:
        return self.text("#panel")

    def pixel(self, key: str, x: int, y: int) -> list[int]:
        """The colour on the canvas at a place in a box."""
        box = self.where(key)
        return self.page.evaluate(
            """([x, y]) => {
                const { left, top } = page.canvas.getBoundingClientRect();
                page.view.draw();
                return [...page.painter.context.getImageData(x - left, y - top, 1, 1).data];
            }""",
            [box["x"] + x, box["y"] + y],
        )
