"""The maker of environments, with short waits.

pip is copied from the folder PACKAGES_WITH_PIP instead of installed. A killed maker soon counts as dead.
"""

import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "editors" / "environment"))

import folder
import making


def copy_pip(python, _wanted):
    (packages,) = python.parents[1].glob("lib/python*/site-packages")
    shutil.copytree(os.environ["PACKAGES_WITH_PIP"], packages, dirs_exist_ok=True)


making.add_pip = copy_pip
folder.HEARTBEAT_S, folder.DEAD_AFTER_S = 0.5, 6.0
sys.exit(making.main(sys.argv[1:]))
