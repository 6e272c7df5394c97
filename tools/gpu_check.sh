#!/bin/sh
# Checks minitf on a machine with an NVIDIA GPU: bash tools/gpu_check.sh [options of gpu_check.py]
# Makes .venv-gpu with the cupy that fits the driver, then runs tools/gpu_check.py there.
# Exits 0 if all is well, 1 if something is not, 2 if it could not be set up, 3 without a GPU,
# 4 if the checks took more than 8 minutes and were stopped.
set -eu
cd "$(dirname "$0")/.."

if [ -n "${MINITF_FAKE_GPUS:-}" ]; then # rehearsal: the check itself is checked
    exec "${PYTHON:-python3}" tools/gpu_check.py "$@"
fi
if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L 2>/dev/null | grep -q '^GPU '; then
    echo "gpu_check: no NVIDIA GPU on this machine (nvidia-smi shows none); nothing was checked" >&2
    exit 3
fi

cuda=$(nvidia-smi | sed -n 's/.*CUDA Version: *\([0-9]*\).*/\1/p' | head -1)
case $cuda in
12) cupy=cupy-cuda12x ;;
1[3-9]) cupy=cupy-cuda13x ;;
*)
    echo "gpu_check: the driver is for CUDA '$cuda'; cupy needs one for CUDA 12 or 13: update it" >&2
    exit 2
    ;;
esac

python=.venv-gpu/bin/python
if ! "$python" -c 'import cupy, pytest, minitf' 2>/dev/null; then
    echo "gpu_check: making .venv-gpu with $cupy (once)"
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    "${PYTHON:-python3}" -m venv --clear .venv-gpu >"$log" 2>&1 &&
        "$python" -m pip install --editable ".[test]" "$cupy[ctk]" >>"$log" 2>&1 || {
        cat "$log" >&2
        echo "gpu_check: could not install $cupy (is a package index reachable?)" >&2
        exit 2
    }
fi
"$python" tools/gpu_check.py "$@"
