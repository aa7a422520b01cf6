#!/usr/bin/env bash
# Makes a fresh environment with JupyterLab, Notebook 7, jupyter-collaboration, JupyterHub with its proxy, and the
# wheels of this repository: fimlsp and its extension.
#
#   tests/editors/prepare_jupyter.sh [FOLDER]     FOLDER is $FIMLSP_JUPYTER or else ~/.cache/fimlsp-jupyter; 760 MB.
#
# Run it again after a change: the wheels are built anew, the rest stays. It needs npm; the tests need Debian's
# chromium and `pip install playwright` as well.
set -euo pipefail

folder=${1:-${FIMLSP_JUPYTER:-$HOME/.cache/fimlsp-jupyter}}
repository=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

[ -e "$folder/bin/jupyter-lab" ] || {
  python3 -m venv "$folder"
  "$folder/bin/pip" install --quiet 'setuptools>=77' 'hatchling>=1.25' 'jupyterlab>=4.1,<5' 'notebook>=7.1,<8' 'jupyter-collaboration>=5,<6'
}
[ -e "$folder/bin/jupyterhub" ] || "$folder/bin/pip" install --quiet 'jupyterhub>=5,<6'
[ -e "$folder/proxy/node_modules" ] || npm install --silent --no-audit --no-fund --prefix "$folder/proxy" configurable-http-proxy@5
rm -rf "$folder/wheels"
(cd "$repository/editors/jupyter" && { [ -d node_modules ] || npm ci --no-audit --no-fund --ignore-scripts; } && npm run --silent build)
for package in . editors/jupyter; do
  "$folder/bin/pip" wheel --quiet --no-deps --no-build-isolation --wheel-dir "$folder/wheels" "$repository/$package"
done
"$folder/bin/pip" install --quiet --force-reinstall --no-deps "$folder"/wheels/*.whl
"$folder/bin/pip" install --quiet "$folder"/wheels/*.whl
"$folder/bin/jupyter" --version
ls -l "$folder/wheels"
