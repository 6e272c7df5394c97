"""The page as a file: what is in it and what must not be; how it is written."""

from __future__ import annotations

import hashlib
import html.parser
import json
import os
import re
import webbrowser
from pathlib import Path

import pytest

from cli.commands import EXAMPLES, one_line
from minitf import cli
from minitf.viz import page
from minitf.viz.page import render, write_page
from minitf.viz.page.data import model
from viz.page_steps import HOSTILE, big_step, hostile_step, step_of_script

ROOT = Path(__file__).parents[2]
FOLDER = Path(page.__file__).parent
WHO = str(EXAMPLES / "who_applies.py")
LIMIT, WIDTH = 500, 100


class Elements(html.parser.HTMLParser):
    """The elements of a page with their attributes, and the content of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.scripts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.elements and self.elements[-1][0] == "script" and data.strip():
            self.scripts.append(data)


@pytest.fixture(scope="module")
def who():
    return render(model(step_of_script(WHO), "who_applies.py"))


def test_the_page_of_the_mlp_is_small(tmp_path):
    file = tmp_path / "mlp.html"
    script = str(EXAMPLES / "distributed_mlp.py")
    assert cli.main(["viz", "--cluster", "ps=2,worker=2", "--html", str(file), script]) == 0
    assert 50_000 < file.stat().st_size < 1_500_000


def test_nothing_comes_from_elsewhere(who):
    for tag, attrs in Elements(who).elements:
        assert tag not in ("link", "img", "iframe", "object")
        assert not attrs.get("src")
        assert not (attrs.get("href") or "#").partition("#")[0]
    assert "sourceMappingURL" not in who
    assert "@import" not in who
    assert re.findall(r"url\(", (FOLDER / "style.css").read_text()) == []


def test_the_policy_allows_these_scripts_alone(who):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', who)[1]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert len(re.findall(r"'sha256-[\w+/=]{44}'", policy)) == 3


def test_licence_of_the_library_is_in_the_page(who):
    assert (FOLDER / "vendor" / "dagre.LICENSE").read_text() in who


def test_library_is_the_release_that_is_documented():
    text = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    content = (FOLDER / "vendor" / "dagre.min.js").read_bytes()
    row = next(line for line in text.splitlines() if "dagre.min.js" in line)
    assert hashlib.sha256(content).hexdigest() in row
    assert re.search(r"3\.\d+\.\d+", row)[0] in content.decode()


def test_hostile_names_stay_data():
    """A name can neither end the JSON block nor become an element."""
    step = hostile_step()
    title = "</title><script>window.hacked=1</script>"
    text = render(model(step, title))
    found = Elements(text)
    assert [tag for tag, _ in found.elements].count("script") == 3
    assert "img" not in [tag for tag, _ in found.elements]
    assert found.elements[0] == ("html", {"lang": "en"})
    (data,) = [json.loads(s) for s in found.scripts if s.startswith("{")]
    assert set(HOSTILE) <= set(data["ops"]["name"])
    assert not re.search("[\u2028\u2029]", text)
    assert data["title"] == title


def test_our_scripts_are_short_and_never_read_markup():
    scripts = sorted(FOLDER.glob("*.js"))
    assert {f.stem for f in scripts} == set(page.SCRIPTS)
    for file in [*scripts, FOLDER / "style.css", FOLDER / "page.html"]:
        lines = file.read_text("utf-8").splitlines()
        assert len(lines) <= LIMIT, file.name
        assert max(map(len, lines)) <= WIDTH, file.name
        unsafe = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
        assert not re.search(unsafe, "\n".join(lines)), file.name


def test_writing_says_what_was_written(tmp_path, capsys):
    file = tmp_path / "who.html"
    assert cli.main(["viz", WHO, "--cluster", "ps=2,worker=2", "--html", str(file)]) == 0
    assert capsys.readouterr().out == f"wrote {file}: {file.stat().st_size:,} bytes\n"
    assert list(tmp_path.iterdir()) == [file]


def test_a_page_is_replaced(tmp_path):
    file = tmp_path / "page.html"
    file.write_text("old")
    write_page(big_step(100), "new", str(file))
    assert "<title>new · minitf</title>" in file.read_text("utf-8")


def test_a_link_is_followed(tmp_path):
    real, link = tmp_path / "real.html", tmp_path / "link.html"
    real.write_text("")
    link.symlink_to(real)
    write_page(big_step(100), "new", str(link))
    assert link.is_symlink()
    assert real.stat().st_size > 1000


def test_a_pipe_takes_the_page():
    assert write_page(big_step(100), "", os.devnull) > 1000
    assert not os.path.isfile(os.devnull)


@pytest.mark.parametrize("where", ["missing/page.html", "."])
def test_a_file_that_cannot_be_written(tmp_path, capsys, where):
    file = tmp_path / where
    said = one_line(capsys, "viz", WHO, "--html", file)
    assert said.startswith(f"--html: cannot write {file}: ")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full(tmp_path, monkeypatch):
    """What cannot be finished leaves nothing, and the page that was there before."""
    file = tmp_path / "page.html"
    file.write_text("old")

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(page.os, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        write_page(big_step(100), "", str(file))
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_open_needs_a_file(capsys):
    assert one_line(capsys, "viz", WHO, "--open").startswith("--open: say with --html FILE")


@pytest.mark.parametrize("found", [True, False])
def test_open_shows_the_page(tmp_path, capsys, monkeypatch, found):
    opened = []
    monkeypatch.setattr(webbrowser, "open", lambda address: opened.append(address) or found)
    file = tmp_path / "a page.html"
    status = cli.main(["viz", WHO, "--html", str(file), "--open"])
    assert status == (0 if found else 2)
    assert opened == [file.as_uri()]
    assert ("found no browser" in capsys.readouterr().err) is not found
