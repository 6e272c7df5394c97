"""What the documents show is true: programs run, outputs are real, links lead somewhere."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from minitf import cli

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def blocks(document: Path, kind: str) -> list[str]:
    return [text for found, text in BLOCK.findall(document.read_text("utf-8")) if found == kind]


def test_links_lead_somewhere():
    missing = []
    for document in DOCUMENTS:
        text = BLOCK.sub("", document.read_text("utf-8"))
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in link and not (document.parent / link).exists():
                missing.append(f"{document.name}: {link}")
    assert missing == []


def test_files_named_exist():
    """Paths such as `plan/emit.py` are below one of the packages."""
    homes = [ROOT, ROOT / "minitf", ROOT / "runtime", ROOT / "runtime" / "minitf_runtime"]
    missing = []
    for document in DOCUMENTS:
        for name in re.findall(r"`([\w/]+/\w+\.(?:py|md|sh))`", document.read_text("utf-8")):
            if "DOMAIN" not in name and not any((h / name).exists() for h in homes):
                missing.append(f"{document.name}: {name}")
    assert missing == []


@pytest.mark.parametrize(
    "document",
    ["README.md"]
    + [f"docs/{n}.md" for n in ("add-an-op", "check", "exchange", "what-if", "why", "wire")],
)
def test_programs_print_what_is_shown(document):
    """All Python blocks of a document, one after another, print its `text` block."""
    document = ROOT / document
    program = "\n".join(blocks(document, "python"))
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT / "tests", timeout=50)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(blocks(document, "text"))


def consoles() -> list[tuple[str, str]]:
    """(command, output) of each `$ minitf viz ...` in the documents."""
    return [
        (first.removeprefix("$ "), rest)
        for document in DOCUMENTS
        for block in blocks(document, "console")
        for first, _, rest in [block.partition("\n")]
        if first.startswith("$ minitf viz ")
    ]


def test_there_are_outputs():
    assert len(consoles()) >= 2


@pytest.mark.parametrize(("command", "shown"), consoles())
def test_outputs_are_real(command, shown, capsys, monkeypatch):
    """A line `...` stands for lines that are left out. Status 1 is an answer, 2 wrong input."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    assert cli.main(shlex.split(command)[1:]) < 2
    out = capsys.readouterr().out
    parts = [re.escape(part) for part in re.split(r"(?:^\.\.\.\n)", shown, flags=re.M)]
    assert re.fullmatch("(?:.*\n)*".join(parts) + "\n*", out), out
