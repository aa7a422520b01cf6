#!/usr/bin/env bash
# Rehearses a training run on another machine, in small: benchmarks/models/rehearse.sh PACK [OPTION...]
#
# Only files that travel are used: the commit that is checked out and the pack. There is no network (unshare -n), and
# libraries that no training needs cannot be imported.
# The run is killed before its first weights, after them, and while weights are written; each time the same command
# goes on. OPTIONs are those of `fimlsp train run`, for instance the sizes of the real run. Prints the seconds.
set -euo pipefail
shopt -s nullglob
pack=$(realpath "$1")
shift
python=${PYTHON:-$PWD/.venv/bin/python}
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT
git archive HEAD | tar -x -C "$there"
cp -r "$pack" "$there/pack"
du -sm "$there" | sed 's/\t.*/ MiB travel/'
mkdir "$there/absent"
for library in bracex cattrs jedi jsonschema lark lsprotocol pygls; do
  echo 'raise ImportError("not on that machine")' >"$there/absent/$library.py"
done
export PYTHONPATH=absent:src
options=(--pack pack -o model --bits 8 --workers 1 "$@")

train() { # train NAME OPTION...: in the background; its process is $run
  echo "$(date +%T) $1"
  (cd "$there" && exec unshare -n "$python" -m fimlsp.models.training.command run "${options[@]}" "${@:2}") >"$there/log" 2>&1 &
  run=$!
}

stop() {
  kill -9 "$run" 2>/dev/null
  wait "$run" 2>/dev/null || true
  grep -v '━' "$there/log" || true
}

until_seen() { # until_seen PATTERN [N]: more than N files of the model, of a running training
  local files=()  # neither a pause nor a process between two looks: small weights are written in milliseconds
  until ((${#files[@]} > ${2:-0})); do
    kill -0 "$run" 2>/dev/null || { cat "$there/log"; exit 1; }
    files=("$there"/model/$1)
  done
}

mkdir "$there/model"
train "killed before the first weights" --minutes 5
sleep 20
stop
train "the same command, killed after the first weights" --minutes 5
until_seen 'model.safetensors.index.jso[n]'
sleep 5
stop
train "continued, killed while weights are written" --minutes 5 --resume
until_seen '*-00001-of-*.safetensors' 1
stop
ls "$there/model"
train "continued to the end" --minutes "${LAST_MINUTES:-1.5}" --resume
wait "$run" || { cat "$there/log"; exit 1; }
grep -v '━' "$there/log"
ls -l "$there/model" | awk '{ print $5, $9 }'
[ "$(find "$there/model" -size +16M | wc -l)" = 0 ]
echo "$(date +%T) card, on a CPU"
(cd "$there" && PYTHONPATH=src "$python" -m fimlsp train card model --pack pack)
head -20 "$there/model/README.md"
date +%T
