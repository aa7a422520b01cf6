"""JupyterLab whose language server is the script of `suggesting_server.py`; arguments as of `jupyter lab`."""

import sys
from pathlib import Path

from jupyterlab.labapp import main
from jupyterlab_fimlsp import language_server

SCRIPT = Path(__file__).with_name("suggesting_server.py")

if __name__ == "__main__":
    language_server.RUN = f"import runpy; runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    sys.exit(main())
