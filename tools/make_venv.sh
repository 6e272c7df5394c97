#!/bin/sh
# Makes the project's own environment:  make_venv.sh PYTHON FOLDER   (called by the Makefile)
set -eu
python=$1
venv=$2

fail() {
    echo "minitf: $*" >&2
    exit 1
}

create() {
    # The standard library first; Debian splits ensurepip off into python3-venv.
    "$python" -m venv --clear "$venv" && return
    "$python" -m virtualenv --clear "$venv" && return
    command -v virtualenv && virtualenv --clear -p "$python" "$venv" && return
    command -v uv && uv venv --clear --seed -p "$python" "$venv" && return
    borrowed=$(mktemp -d)
    status=1
    "$python" -m pip install --target "$borrowed" virtualenv &&
        PYTHONPATH=$borrowed "$python" -m virtualenv --clear "$venv" && status=0
    rm -rf "$borrowed"
    return $status
}

install() {
    "$venv/bin/python" -m pip install --upgrade "pip>=23" &&
        "$venv/bin/python" -m pip install --editable ".[test,lint]"
}

command -v "$python" >/dev/null ||
    fail "'$python' was not found; install Python 3.10 or later, or name it: make PYTHON=/path/to/python3"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    fail "Python 3.10 or later is needed, '$python' is $("$python" -V 2>&1); name another: make PYTHON=/path/to/python3"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "minitf: making $venv (once; takes a minute)"
create >"$log" 2>&1 || {
    cat "$log" >&2
    fail "cannot make a virtual environment; on Debian or Ubuntu: apt-get install python3-venv, elsewhere: pip install virtualenv"
}
install >"$log" 2>&1 || {
    cat "$log" >&2
    fail "pip could not install what pyproject.toml names (is a package index reachable?)"
}
# pip compiles what it installs, but not what stays editable. A source that does not compile says so where it is used.
"$venv/bin/python" -m compileall -q minitf runtime >"$log" 2>&1 || true
