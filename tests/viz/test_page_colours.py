"""Contrast of the page's colours, both themes: AA of WCAG 2 for words, 3:1 for lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from minitf.viz import page
from minitf.viz.rows import ROLES

STYLE = (Path(page.__file__).parent / "style.css").read_text("utf-8")
GROUNDS = "sheet surface task device scope closed hover".split()
TEXT = [
    *((ink, ground) for ink in ("ink", "quiet") for ground in GROUNDS),
    *(("accent", ground) for ground in ("sheet", "surface", "hover")),
    *(("ink", f"{role}-fill") for role in ROLES),
    *((name, "label") for name in ("wire", "control", "accent")),
    ("wire", "surface"),
    ("ink", "code"),
]
LINES = [
    *((role, "closed") for role in ROLES),
    *((role, "surface") for role in ROLES),
    *((name, ground) for name in ("wire", "control", "edge", "accent") for ground in GROUNDS[:5]),
]


def colours(theme: str) -> dict[str, str]:
    """name -> #rrggbb, of one theme."""
    light, dark, _chosen = re.findall(r":root[^{]*\{\n(.*?)\n *\}", STYLE, re.S)
    block = light if theme == "light" else dark
    return {name: full(value) for name, value in re.findall(r"--([\w-]+): (#\w+);", block)}


def full(colour: str) -> str:
    digits = colour[1:]
    return "".join(d * 2 for d in digits) if len(digits) == 3 else digits[:6]


def brightness(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    r, g, b = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    low, high = sorted((brightness(one), brightness(other)))
    return (high + 0.05) / (low + 0.05)


def test_contrast_of_known_colours():
    assert contrast("000000", "ffffff") == pytest.approx(21)
    assert contrast("777777", "ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("pairs", "least"), [(TEXT, 4.5), (LINES, 3.0)], ids=["text", "lines"])
def test_contrast(theme, pairs, least):
    of = colours(theme)
    seen = {(a, b): contrast(of[a], of[b]) for a, b in pairs}
    assert {pair: round(ratio, 2) for pair, ratio in seen.items() if ratio < least} == {}


def test_both_dark_blocks_are_the_same():
    _, system, chosen = re.findall(r":root[^{]*\{\n(.*?)\n *\}", STYLE, re.S)
    assert system.split() == chosen.split()
