"""No file holds two ideas: 500 lines at most."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
LIMIT = 500


def test_no_file_is_too_long():
    files = [
        f
        for folder in ("minitf", "runtime", "tests", "tools")
        for f in (ROOT / folder).rglob("*.py")
    ]
    lines = {str(f.relative_to(ROOT)): len(f.read_text("utf-8").splitlines()) for f in files}
    assert len(files) > 10
    assert {name: count for name, count in lines.items() if count > LIMIT} == {}
