"""The HTML page of a step: one file with its data, style, scripts and layout library inside."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
from collections.abc import Mapping
from importlib import resources
from string import Template
from typing import Any

from minitf.viz.page.data import model
from minitf_runtime.passes.data import Partitioned

# In the order in which they may use each other; they share one scope.
SCRIPTS = ("dom", "model", "tree", "layout", "arrows", "paint", "camera", "view")
SCRIPTS += ("panel", "table", "player", "search", "rates", "live", "main")
# The JSON block must not end its script element, nor hold what HTML or old JavaScript trips over.
_UNSAFE = re.compile("[<>&\u2028\u2029]")


def write_page(cut: Partitioned, title: str, file: str) -> int:
    """Writes the page of a step, whole or not at all; its size in bytes. Raises OSError."""
    content = render(model(cut, title)).encode("utf-8")
    _write_whole(content, os.path.realpath(file))
    return len(content)


def _write_whole(content: bytes, file: str) -> None:
    if os.path.exists(file) and not os.path.isfile(file):  # a pipe or a device; refuses a folder
        with open(file, "wb") as out:
            out.write(content)
        return
    draft = f"{file}.{os.getpid()}.part"
    try:
        with open(draft, "wb") as out:
            out.write(content)
        os.replace(draft, file)
    except OSError:
        if os.path.exists(draft):
            os.remove(draft)
        raise


def render(data: Mapping[str, Any]) -> str:
    """The page that shows what `model` made; one with "live" asks its server for numbers."""
    style = _read("style.css")
    library = f"/*\n{_read('vendor/dagre.LICENSE')}*/\n{_library()}"
    script = "\n".join(["(() => {", *(_read(f"{name}.js") for name in SCRIPTS), "})();"])
    return Template(_read("page.html")).substitute(
        policy=_policy(style, library, script) + ("; connect-src 'self'" if "live" in data else ""),
        title=html.escape(data["title"]),
        style=style,
        data=_UNSAFE.sub(lambda m: f"\\u{ord(m[0]):04x}", json.dumps(data, ensure_ascii=False)),
        library=library,
        script=script,
    )


def _library() -> str:
    """The layout library without its last line, which names a file that is not there."""
    return re.sub(r"^//# sourceMappingURL=.*\n?", "", _read("vendor/dagre.min.js"), flags=re.M)


def _policy(style: str, *scripts: str) -> str:
    """What the browser may run and load: these very texts, and nothing from anywhere."""
    allowed = " ".join(map(_hash, scripts))
    return f"default-src 'none'; style-src {_hash(style)}; script-src {allowed}"


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text("utf-8")
