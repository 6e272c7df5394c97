"""The page of a running cluster in Chromium: its numbers, its states, and hostile names in them."""

from __future__ import annotations

import re
import signal
from contextlib import contextmanager

import numpy as np
import pytest

import minitf as tf
from cli.commands import start
from viz.page_browser import Shown, chromium, launch
from viz.page_steps import HOSTILE
from viz.test_serve import StillSite, build, cluster, serving, site_of  # noqa: F401 (a fixture)

pytestmark = [pytest.mark.browser, pytest.mark.cluster, pytest.mark.timeout(120)]

MARKUP = "<img src=x onerror=window.hacked=1>"


@pytest.fixture(scope="module")
def browser():
    chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = launch(driver)
        yield browser
        browser.close()


@contextmanager
def shown_at(browser, url, **options):
    """The page; it must not complain, nor ask anybody but its server."""
    shown = Shown(browser, url, **options)
    yield shown
    shown.context.close()
    assert {re.match(r"https?://[^/]*", asked)[0] for asked in shown.asked} == {
        url.partition("/?")[0]
    }


def says(shown, selector, text):
    """Waits until an element holds a text."""
    shown.page.wait_for_function(
        "([selector, text]) => document.querySelector(selector).textContent.includes(text)",
        arg=[selector, text],
        timeout=20_000,
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_of_a_running_cluster(browser, cluster, scheme):  # noqa: F811
    address, target = cluster
    x, train, _ = build()
    feed = {x: np.ones((2, 3), "f")}
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(train, feed)
        with (
            site_of(address) as site,
            serving(site) as server,
            shown_at(browser, server.url, color_scheme=scheme) as shown,
        ):
            says(shown, "#state", "Live")
            for _ in range(60):
                sess.run(train, feed)
                shown.page.wait_for_timeout(20)
            says(shown, "#steps", "62 steps")
            assert re.fullmatch(r"[\d.]+", shown.text("#rate"))
            assert re.fullmatch(r"[\d.]+ k?B/s", shown.text("#flow"))
            assert re.fullmatch(r"(ps|worker):0, \d+ %", shown.text("#most"))
            shown.page.click("#tab-live")
            assert shown.page.locator("#sessions tr").count() == 1
            assert shown.text("#tasks").split()[0] == "ps:0"
            shown.page.click("#tab-wire")
            heads = shown.page.locator("#wire th").all_inner_texts()
            assert heads[4:7] == ["Bytes", "Bytes/s", "So far"]
            row = shown.page.locator("#wire tbody tr", has_text="gradient of w").first
            assert row.locator("td").nth(6).inner_text() == f"{61 * 48:,}"
            row.locator("button").click()
            assert f"So far\n{61 * 48:,}" in shown.panel
    assert shown.faults == []


def test_a_session_that_ends(browser, cluster):  # noqa: F811
    address, target = cluster
    with tf.Session(target) as first:
        first.run(tf.constant(1.0, name="first"))
        with site_of(address) as site, serving(site) as server:
            with shown_at(browser, server.url) as shown:
                says(shown, "#state", "Live")
                first.run(tf.constant(2.0))
                says(shown, "#state", "The graph has changed")
                shown.page.click("#reload")
                shown.settle()
                says(shown, "#state", "Live")
                first.close()
                says(shown, "#state", "The session of this page has ended")
                assert shown.page.is_visible("#reload")
            assert shown.faults == []


def test_a_cluster_that_is_killed_and_comes_back(browser, free_ports):
    address = f"127.0.0.1:{free_ports(1)[0]}"
    command = ("server", "--cluster", f"local={address}", "--job", "local")
    with start(*command) as killed:
        assert "listens on" in killed.stdout.readline()
        sess = tf.Session(f"grpc://{address}")
        sess.run(tf.constant(1.0, name="before"))
        with site_of(address) as site, serving(site) as server:
            site._read = lambda: None  # it cannot be read while it is away
            with shown_at(browser, server.url) as shown:
                says(shown, "#state", "Live")
                killed.send_signal(signal.SIGKILL)
                killed.wait()
                says(shown, "#state", "The cluster does not answer, since ")
                assert shown.text("#rate") == shown.text("#steps") == "–"
                shown.page.reload()
                shown.settle()
                says(shown, "#state", "The cluster does not answer")
                with start(*command) as back:
                    says(shown, "#state", "The session of this page has ended")
                    back.kill()
            assert shown.faults == []


def test_a_server_that_has_ended(browser):
    with serving(StillSite()) as server:
        shown = Shown(browser, server.url)
        says(shown, "#state", "The cluster does not answer")
    server.socket.close()
    says(shown, "#state", "The server of this page does not answer, since ")
    shown.context.close()


def numbers(name):
    """Those of a cluster whose tasks have that name."""
    task = dict(now=1.0, steps=3, running=1, seconds=2.0, waited=1.0)
    return {
        "state": "up",
        "sessions": [dict(id=name, task=name, shown=True, steps=3, failed=0, running=1)],
        "tasks": [
            dict(name=name, up=True, longest={"seconds": 12.0, "for": 0}, **task),
            dict(name=name + "2", up=True, longest={"seconds": 9.0, "for": "blocked"}, **task),
            dict(name=name + "3", up=False),
        ],
        "bytes": [0] * len(HOSTILE),
        "waited": [0.0] * len(HOSTILE),
    }


@pytest.mark.parametrize("name", [*HOSTILE, MARKUP, "constructor"])
def test_hostile_names_are_text(browser, name):
    site = StillSite(numbers(name))
    with serving(site) as server, shown_at(browser, server.url) as shown:
        says(shown, "#state", "Live")
        shown.page.click("#tab-live")
        says(shown, "#tasks", name)
        says(shown, "#sessions", name)
        waits = shown.page.locator("#tasks tr td:last-child").all_inner_texts()
        assert waits[0].startswith("12 s for ")
        assert waits[1:] == ["9.0 s for an op that waits for another step", "It does not answer."]
        assert shown.page.is_visible("#why-stuck")
        assert shown.page.evaluate("() => window.hacked") is None
        assert shown.page.locator("img").count() == 0
        assert shown.page.locator("script").count() == 3
    assert shown.faults == []


def test_keys_reach_the_live_tab(browser):
    with serving(StillSite(numbers("ps:0"))) as server, shown_at(browser, server.url) as shown:
        says(shown, "#state", "Live")
        shown.page.focus("#tab-graph")
        shown.page.keyboard.press("ArrowLeft")
        assert shown.page.is_visible("#sessions")
        assert shown.page.evaluate("() => document.activeElement.id") == "tab-live"
        shown.page.keyboard.press("ArrowLeft")
        assert shown.page.is_visible("#wire")
        shown.page.keyboard.press("ArrowRight")
        shown.page.keyboard.press("ArrowRight")
        assert shown.page.is_visible("#graph")
    assert shown.faults == []


def test_only_the_state_is_said_aloud(browser):
    with serving(StillSite(numbers("ps:0"))) as server, shown_at(browser, server.url) as shown:
        says(shown, "#state", "Live")
        assert shown.page.get_attribute("#state", "role") == "status"
        said = shown.page.locator("[aria-live], [role=status], [role=alert]")
        assert said.evaluate_all("all => all.map((e) => e.id)") == ["state", "said"]


def test_a_narrow_screen(browser):
    site = StillSite(numbers("worker:0"))
    with serving(site) as server, shown_at(browser, server.url, width=390, height=844) as shown:
        says(shown, "#state", "Live")
        width = "() => document.documentElement.scrollWidth"
        assert shown.page.evaluate(width) == 390
        shown.page.click("#tab-live")
        assert shown.page.evaluate(width) == 390


def test_rates(browser):
    """Over the last five seconds; a sum that starts anew is another's."""
    with serving(StillSite()) as server, shown_at(browser, server.url) as shown:
        found = shown.page.evaluate(
            """() => {
                const rates = new page.live.rates.constructor();
                const seen = [rates.of("a")];
                for (let t = 0; t <= 20; t += 1) rates.add("a", t, t < 10 ? t : 10 + 3 * (t - 10));
                seen.push(rates.of("a"));
                rates.add("a", 21, 1);
                seen.push(rates.of("a"));
                rates.add("a", 22, 3);
                rates.add("b", 1, 5);
                rates.add("b", 2, 5);
                return [...seen, rates.of("a"), rates.share("a", "b"), rates.share("b", "a")];
            }"""
        )
        assert found == [None, 3, None, 2, None, 0]
