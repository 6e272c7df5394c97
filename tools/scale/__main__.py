"""python -m tools.scale [NAME ...]: how cost grows, and what minitf weighs. All without a name."""

from __future__ import annotations

import argparse

from tools.scale import clusters, growth, weight

KNOWN = {
    "steps": growth.steps,
    "sizes": growth.sizes,
    "ops": growth.ops,
    "workers": clusters.workers,
    "wire": clusters.wire,
    "start": clusters.start,
    "weight": weight.weight,
    "installed": weight.installed,
}


def main():
    parser = argparse.ArgumentParser(prog="tools.scale", description=__doc__)
    parser.add_argument("what", nargs="*", metavar="NAME", help=", ".join(KNOWN))
    asked = parser.parse_args().what or KNOWN
    wrong = [name for name in asked if name not in KNOWN]
    if wrong:
        parser.error(f"expected {', '.join(KNOWN)} but got '{wrong[0]}'")
    for name in asked:
        KNOWN[name]()


if __name__ == "__main__":
    main()
