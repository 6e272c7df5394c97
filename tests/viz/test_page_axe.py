"""axe-core finds no serious accessibility fault in the page, in whatever state it is."""

from __future__ import annotations

import pytest

from cli.commands import EXAMPLES
from viz.page_browser import Shown, chromium, launch, write
from viz.page_steps import step_of_script
from viz.test_page_live import numbers, says
from viz.test_serve import StillSite, serving

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

SCREENS = [("light", 1280), ("light", 390), ("dark", 1280), ("dark", 390)]


@pytest.fixture(scope="module")
def browser():
    chromium()
    pytest.importorskip("axe_playwright_python", reason="needs axe-playwright-python (page-test)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = launch(driver)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(browser, tmp_path_factory):
    step = step_of_script(EXAMPLES / "who_applies.py")
    return write(step, tmp_path_factory.mktemp("page") / "who.html")


def faults(page):
    """Rule and elements of each fault that keeps somebody from using the page."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        (fault["id"], [node["target"] for node in fault["nodes"]])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]


def test_it_finds_faults(browser):
    page = browser.new_page()
    page.set_content("<button></button>")
    assert "button-name" in [rule for rule, _ in faults(page)]
    page.close()


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_the_file(browser, address, scheme, width):
    shown = Shown(browser, address, width, 844, color_scheme=scheme)
    page = shown.page
    assert faults(page) == []
    page.fill("#search", "update")
    assert faults(page) == []
    page.keyboard.press("Enter")
    shown.settle()
    assert faults(page) == []
    page.click("#tab-wire")
    page.click("td >> text=b/read")
    page.click("#copy")
    page.wait_for_selector("#note:not([hidden])")
    assert faults(page) == []
    shown.context.close()


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_a_running_cluster(browser, scheme, width):
    with serving(StillSite(numbers("worker:0"))) as server:
        shown = Shown(browser, server.url, width, 844, color_scheme=scheme)
        says(shown, "#state", "Live")
        assert faults(shown.page) == []
        shown.page.click("#tab-live")
        assert faults(shown.page) == []
        shown.context.close()
