"""The page in Chromium: what a user does with pointer and keys, and what is then seen."""

from __future__ import annotations

import time

import pytest

from cli.commands import EXAMPLES
from viz.page_browser import Shown, chromium, launch, write
from viz.page_steps import big_step, cut, hostile_step, step_of_script

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

GRADIENT = "gradients/MatMul_grad/tuple/control_dependency_1"
UPDATE = "Adagrad/update_W/ApplyAdagrad"


@pytest.fixture(scope="module")
def browser():
    chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = launch(driver)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    chromium()
    step = step_of_script(EXAMPLES / "who_applies.py")
    return write(step, tmp_path_factory.mktemp("page") / "who.html")


@pytest.fixture
def shown(browser, address):
    """The page of who_applies.py; a test fails if the browser complained or asked for anything."""
    shown = Shown(browser, address)
    yield shown
    shown.context.close()
    assert shown.faults == []
    assert shown.asked == [address]


def test_what_is_seen_first(shown):
    assert shown.text("h1") == "tested.py"
    assert shown.text("#numbers") == "64 ops · 3 devices · 9 messages · 48 B a step"
    assert "worker:0 computes the gradients of Adagrad, in 37 ops" in shown.panel
    assert shown.where("task worker:0")
    assert shown.where("op MatMul")
    assert shown.where(f"op {GRADIENT}") is None
    assert len(shown.page.evaluate("() => page.scene.arrows")) == 9


def test_boxes_are_nested_and_apart(shown):
    """Each seen box lies in its parent, and beside its siblings."""
    shown.page.click("#open-all")
    shown.settle()
    faults = shown.page.evaluate(
        """() => {
            const faults = [];
            const inside = (a, b) => a.ax >= b.ax - 1 && a.ay >= b.ay - 1 &&
                a.ax + a.w <= b.ax + b.w + 1 && a.ay + a.h <= b.ay + b.h + 1;
            const over = (a, b) => a.ax < b.ax + b.w && b.ax < a.ax + a.w &&
                a.ay < b.ay + b.h && b.ay < a.ay + a.h;
            const walk = (box) => box.open && box.children.forEach((child, i) => {
                if (box.parent && !inside(child, box)) faults.push(`${child.key} leaves its box`);
                for (const other of box.children.slice(i + 1)) {
                    if (over(child, other)) faults.push(`${child.key} covers ${other.key}`);
                }
                walk(child);
            });
            walk(page.scene.tree.root);
            return faults;
        }"""
    )
    assert faults == []


def test_a_group_opens_and_closes(shown):
    key = shown.key_of(" gradients")
    closed = shown.where(key)
    shown.click(key, 14)  # its chevron
    opened = shown.where(key)
    assert opened["h"] > closed["h"]
    assert shown.where("op gradients/Fill")
    shown.click(key, 14, 14)
    assert shown.where("op gradients/Fill") is None
    box = shown.where(key)
    shown.page.mouse.dblclick(box["x"] + box["w"] / 2, box["y"] + box["h"] / 2)
    shown.settle()
    assert shown.where("op gradients/Fill")


def test_open_all_and_close_all(shown):
    shown.page.click("#open-all")
    shown.settle()
    assert shown.where(f"op {GRADIENT}")
    shown.page.click("#close-all")
    shown.settle()
    assert shown.where("op MatMul") is None


def test_a_click_on_an_op_tells_why(shown):
    shown.click("op MatMul")
    panel = shown.panel
    assert "with tf.device(device_setter)" in panel
    assert "who_applies.py:30" in panel
    assert "loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))" in panel
    assert "x:0 (fed)" in panel
    assert "W/read float32[4,1] 16 B" in panel
    assert "transpose_a = False" in panel
    shown.page.click("#panel section button >> text=W/read")
    shown.settle()
    assert shown.text("#panel h2") == "W/read"
    assert shown.where("op W/read"), "its group was opened"


def test_a_click_on_an_arrow_tells_what_crosses(shown):
    """The tag of the arrow that carries the gradient of W."""
    tag = shown.page.evaluate(
        """(name) => {
            const arrow = page.scene.arrows.find(({ transfers }) => transfers[0].tensor === name);
            const { x, y, scale } = page.view.camera;
            const { left, top } = page.canvas.getBoundingClientRect();
            return [left + x + arrow.tag.x * scale, top + y + arrow.tag.y * scale];
        }""",
        GRADIENT,
    )
    shown.page.mouse.click(*tag)
    assert "gradient of W" in shown.panel
    assert f"'{UPDATE}' (ApplyAdagrad) takes it there" in shown.panel


def test_roles_have_their_colours(shown):
    colour = shown.page.evaluate(
        "() => getComputedStyle(document.documentElement).getPropertyValue('--forward').trim()"
    )
    assert colour == "#2563eb"
    box = shown.where("op MatMul")
    assert shown.pixel("op MatMul", 1, int(box["h"] / 2))[:3] == [0x25, 0x63, 0xEB]


def test_search(shown):
    shown.page.keyboard.press("/")
    shown.page.keyboard.type("update applyada")
    options = shown.page.locator("#found [role=option]").all_inner_texts()
    assert len(options) == 2
    assert UPDATE in options[0]
    shown.page.keyboard.press("ArrowDown")
    shown.page.keyboard.press("ArrowUp")
    assert shown.page.get_attribute("#search", "aria-activedescendant") == "found-0"
    shown.page.keyboard.press("Enter")
    shown.settle()
    assert shown.text("#panel h2") == UPDATE
    assert shown.where(f"op {UPDATE}")
    assert shown.page.is_hidden("#found")


def test_search_finds_nothing(shown):
    shown.page.fill("#search", "no such op")
    assert "no op has such a name" in shown.text("#found")
    shown.page.keyboard.press("Enter")
    shown.page.keyboard.press("Escape")
    assert shown.page.is_hidden("#found")


def test_only_what_minimize_made(shown):
    shown.page.click("#only")
    shown.settle()
    ops = shown.page.evaluate("() => [...page.scene.tree.leaves.keys()].map((op) => op.role)")
    assert set(ops) == {"gradient", "apply", "slot"}
    assert len(ops) == 45 + 8 + 2
    shown.page.evaluate("() => page.reveal(page.model.ops.find((op) => op.name === 'MatMul'))")
    shown.settle()
    assert not shown.page.is_checked("#only"), "what is gone to is shown"


def test_a_selection_outlives_filter_and_closing(shown):
    shown.page.evaluate("() => page.reveal(page.model.ops.find((op) => op.role === 'slot'))")
    shown.settle()
    name = shown.text("#panel h2")
    shown.page.click("#only")
    shown.settle()
    assert shown.text("#panel h2") == name
    shown.page.click("#close-all")
    shown.settle()
    assert shown.text("#panel h2") == name
    shown.page.click("#only")
    shown.settle()
    camera = shown.page.evaluate("() => [page.view.camera.x, page.view.camera.scale]")
    assert None not in camera
    shown.page.click("#only")
    shown.page.evaluate("() => page.select(page.scene.tree.root.children[2])")
    shown.page.click("#only")
    shown.settle()
    assert "One step" in shown.panel


def test_the_slider_plays_the_step(shown):
    slider = shown.page.locator("#slider")
    assert "82 / 82 · the step is done" in shown.text("#told")
    box = shown.where("op MatMul")
    ran = shown.pixel("op MatMul", 1, int(box["h"] / 2))
    slider.focus()
    shown.page.keyboard.press("Home")
    assert "nothing has run yet" in shown.text("#told")
    assert shown.pixel("op MatMul", 1, int(box["h"] / 2)) != ran
    shown.page.keyboard.press("ArrowRight")
    assert shown.text("#told").startswith("1 / 82 · ps:0 runs ")
    assert slider.get_attribute("aria-valuetext").startswith("1 of 82: ps:0 runs ")
    told = []
    for _ in range(81):
        shown.page.click("#forward")
        told.append(shown.text("#told").partition(" · ")[2])
    sent = f"worker:0 sends {GRADIENT} to ps:0"
    assert told.index(f"worker:0 runs {GRADIENT}") < told.index(sent)
    assert told.index(sent) < told.index(f"ps:0 takes in {GRADIENT}")
    assert told.index(f"ps:0 takes in {GRADIENT}") < told.index(f"ps:0 runs {UPDATE}")
    shown.page.click("#back")
    assert shown.text("#told").startswith("81 / 82")


def test_play_and_pause(shown):
    shown.page.click("#play")
    shown.page.wait_for_function("() => page.player.position > 2 && page.player.position < 82")
    assert shown.page.get_attribute("#play", "aria-label") == "Pause the step"
    shown.page.click("#play")
    stopped = shown.page.evaluate("() => page.player.position")
    shown.page.wait_for_timeout(300)
    assert shown.page.evaluate("() => page.player.position") == stopped


def test_the_table_sorts(shown):
    shown.page.click("#tab-wire")
    sizes = (
        "() => [...document.querySelectorAll('tbody tr td:nth-child(5)')].map((d) => d.innerText)"
    )
    assert shown.page.evaluate(sizes) == "16 4 4 4 16 4 0 0 0".split()
    shown.page.click("th >> text=Bytes")
    assert shown.page.evaluate(sizes) == "0 0 0 4 4 4 4 16 16".split()
    shown.page.keyboard.press("Enter")
    assert shown.page.evaluate(sizes) == "16 16 4 4 4 4 0 0 0".split()
    assert shown.page.get_attribute("th:nth-child(5)", "aria-sort") == "descending"
    assert shown.page.locator("[aria-sort]").count() == 1


def test_the_table_is_copied(shown):
    shown.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown.page.click("#tab-wire")
    shown.page.click("#copy")
    shown.page.wait_for_selector("#note:not([hidden])")
    assert shown.text("#note") == "9 rows copied"
    lines = shown.page.evaluate("() => navigator.clipboard.readText()").splitlines()
    assert lines[0] == "#\tFrom\tTo\tWhat\tBytes\tTensor\tType\tShape\tUsed by"
    assert lines[5] == (f"5\tworker:0\tps:0\tgradient of W\t16\t{GRADIENT}\tfloat32\t4x1\t{UPDATE}")
    assert len(lines) == 10


def test_a_row_shows_its_transfer(shown):
    shown.page.click("#tab-wire")
    shown.page.click("td >> text=b/read")
    assert "Transfer 2 of 9" in shown.panel
    assert shown.page.locator("tr.chosen").count() == 1
    shown.page.click("#panel section button >> text=b/read")
    shown.settle()
    assert shown.page.is_visible("#graph")
    assert shown.where("op b/read")


def test_the_filter_is_that_of_the_table_too(shown):
    shown.page.click("#tab-wire")
    shown.page.click("#only")
    rows = shown.page.locator("tbody tr").count()
    assert rows == 9, "each has an end in what minimize() made"
    shown.page.click("#tab-graph")
    shown.settle()
    assert shown.where("task ps:0")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_theme(browser, address, scheme):
    shown = Shown(browser, address, color_scheme=scheme)
    colour = "() => getComputedStyle(document.body).backgroundColor"
    of = {"light": "rgb(246, 247, 249)", "dark": "rgb(15, 18, 23)"}
    other = "dark" if scheme == "light" else "light"
    assert shown.page.evaluate(colour) == of[scheme]
    corner = shown.page.evaluate("() => page.painter.colour.sheet")
    shown.page.click("#theme")
    assert shown.page.evaluate(colour) == of[other]
    assert shown.page.evaluate("() => page.painter.colour.sheet") != corner
    assert shown.page.get_attribute("#theme", "aria-label") == f"Switch to {scheme} colours"
    shown.context.close()
    assert shown.faults == []


def test_keys_alone(shown):
    """From the top of the page to an op's reasons and the table, without a pointer."""
    press = shown.page.keyboard.press
    press("Tab")
    press("Enter")  # the link that skips to the graph
    assert shown.page.evaluate("() => document.activeElement.id") == "graph"
    press("ArrowDown")
    assert shown.text("#panel h2") == "ps:0"
    press("ArrowDown")
    assert shown.text("#panel h2") == "ps:1"
    press("ArrowUp")
    press("ArrowRight")  # the device in it
    press("ArrowRight")  # the first box in that
    first = shown.text("#panel h2")
    press("ArrowDown")
    assert shown.text("#panel h2") != first
    press("ArrowLeft")
    assert shown.text("#panel h2") == "CPU:0"
    press("Enter")
    assert shown.page.evaluate("() => page.scene.selected.box.open") is False
    assert shown.text("#said") == "CPU:0, 8 ops, closed"
    press("Escape")
    assert "One step" in shown.panel
    scale = shown.page.evaluate("() => page.view.camera.scale")
    press("+")
    assert shown.page.evaluate("() => page.view.camera.scale") > scale
    press("0")
    shown.page.focus("#tab-graph")
    press("ArrowRight")
    assert shown.page.is_visible("#wire table")


def test_every_control_is_reached_by_tab(shown):
    reached = set()
    for _ in range(40):
        shown.page.keyboard.press("Tab")
        reached.add(shown.page.evaluate("() => document.activeElement.id"))
    wanted = "search theme tab-graph only graph open-all close-all zoom-in zoom-out fit"
    assert {*wanted.split(), "back", "play", "forward", "slider"} <= reached


def test_zoom_and_move(shown):
    before = shown.where("task worker:0")
    shown.page.mouse.move(400, 400)
    shown.page.mouse.wheel(0, 50)
    shown.settle()
    moved = shown.where("task worker:0")
    assert moved["y"] == pytest.approx(before["y"] - 50, abs=1)
    shown.page.keyboard.down("Control")
    shown.page.mouse.wheel(0, -100)
    shown.page.keyboard.up("Control")
    shown.settle()
    assert shown.where("task worker:0")["w"] > before["w"] * 1.3
    shown.page.mouse.move(30, 120)
    shown.page.mouse.down()
    shown.page.mouse.move(90, 160, steps=4)
    shown.page.mouse.up()
    assert "One step" in shown.panel, "a drag selects nothing"
    shown.page.click("#fit")
    shown.settle()
    assert shown.where("task worker:0") == pytest.approx(before, abs=1)


def test_a_narrow_screen(browser, address):
    shown = Shown(browser, address, width=390, height=844, has_touch=True)
    assert shown.page.evaluate("() => document.documentElement.scrollWidth") == 390
    box = shown.where("op MatMul")
    shown.page.touchscreen.tap(box["x"] + box["w"] / 2, box["y"] + box["h"] / 2)
    assert shown.text("#panel h2") == "MatMul"
    shown.page.click("#tab-wire")
    assert shown.page.evaluate("() => document.documentElement.scrollWidth") == 390
    shown.context.close()
    assert shown.faults == []


def test_hostile_names_are_text(browser, tmp_path):
    shown = Shown(browser, write(hostile_step(), tmp_path / "hostile.html"))
    shown.page.click("#open-all")
    shown.settle()
    for i in range(5):
        shown.page.evaluate("(i) => page.reveal(page.model.ops[i])", i)
        shown.settle()
        assert shown.page.evaluate("(i) => page.model.ops[i].name", i) == (
            shown.page.text_content("#panel h2")
        )
    shown.page.fill("#search", "script")
    shown.page.keyboard.press("Enter")
    for step in range(6):
        shown.page.evaluate("(i) => page.player.go(i)", step)
    shown.page.click("#tab-wire")
    assert "<img src=x" in shown.text("#wire")
    assert shown.page.evaluate("() => window.hacked") is None
    assert shown.page.locator("img").count() == 0
    assert len(shown.asked) == 1
    shown.context.close()
    assert shown.faults == []


def test_one_device_without_optimizer(browser, tmp_path):
    from passes.build import node

    shown = Shown(browser, write(cut([node("c", op="Const")], ["c"]), tmp_path / "one.html"))
    assert "No transfers: one device runs the whole step." in shown.panel
    assert "No optimizer in this step." in shown.panel
    assert shown.page.is_disabled("#only")
    shown.page.click("#tab-wire")
    assert "No transfers" in shown.text("#wire")
    shown.context.close()
    assert shown.faults == []


def test_ten_thousand_ops(browser, tmp_path):
    """It opens in under 2 s on an idle machine; bounds are wide, for a busy one."""
    address = write(big_step(10_000), tmp_path / "big.html")
    start = time.monotonic()
    shown = Shown(browser, address)
    opened = time.monotonic() - start
    assert shown.text("#numbers").startswith("10,000 ops")
    frames = shown.page.evaluate(
        """() => {
            const times = [];
            for (let i = 0; i < 20; i += 1) {
                const start = performance.now();
                page.view.camera.zoom(i < 10 ? 1.1 : 0.9, 400, 300);
                page.view.camera.move(5, 3);
                page.view.draw();
                times.push(performance.now() - start);
            }
            return times.sort((a, b) => a - b)[10];
        }"""
    )
    shown.page.evaluate("() => page.reveal(page.model.ops[7777])")
    shown.settle()
    assert shown.where("op " + shown.text("#panel h2"))
    shown.context.close()
    assert shown.faults == []
    assert opened < 10, f"opened in {opened:.1f} s"
    assert frames < 80, f"a frame takes {frames:.0f} ms"
