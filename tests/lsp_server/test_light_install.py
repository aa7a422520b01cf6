"""Without PyTorch and transformers all works but checkpoints, whose error names the packages to install.

The two are hidden from the processes here and from those that they start, as if they were not installed.
The packages of the extra are read from metadata of the tests, however fimlsp was installed.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from fimlsp.extras import install_command, packages_of

from .waiting import HANG_GUARD_S

FIMLSP = (sys.executable, "-m", "fimlsp")
ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "inventory.py"
HIDE = "import sys\nsys.modules['torch'] = sys.modules['transformers'] = None\n"
METADATA = """\
Metadata-Version: 2.4
Name: fimlsp
Version: 0.0
Requires-Dist: click<9,>=8.1
Provides-Extra: checkpoints
Requires-Dist: torch<3,>=2.9; extra == "checkpoints"
Requires-Dist: transformers <6,>=5.0 ; extra == 'checkpoints'
Provides-Extra: gguf
Requires-Dist: gguf<1,>=0.17; extra == "gguf"
"""
PACKAGES = ["torch<3,>=2.9", "transformers<6,>=5.0"]


@pytest.fixture
def remedy(monkeypatch, tmp_path):
    """The error without the packages for checkpoints."""
    monkeypatch.syspath_prepend(str(with_metadata(tmp_path / "metadata")))
    return f"Install what is missing with: {install_command('checkpoints')}"


def with_metadata(folder):
    """*folder*, made with the metadata of an installed fimlsp."""
    information = folder / "fimlsp-0.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(METADATA)
    return folder


@pytest.fixture
def hidden(tmp_path):
    """An environment in which the two are hidden."""
    folder = with_metadata(tmp_path / "hiding")
    (folder / "sitecustomize.py").write_text(HIDE)
    environment = os.environ | {"PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", "import torch"]
    probe = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert b"ModuleNotFoundError" in probe.stderr
    return environment


@pytest.fixture
def light(tmp_path, hidden):
    """Run `fimlsp` where the two are hidden: `light(*arguments)`."""

    def run(*arguments, given="", program=FIMLSP):
        command = [*program, *map(str, arguments)]
        return subprocess.run(
            command, cwd=tmp_path, env=hidden, input=given, capture_output=True, text=True, check=False
        )

    return run


def test_complete(light):
    done = light("complete", EXAMPLE, "--at", "43:18", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["complete"]


def test_verify(light):
    done = light("verify", given='{"id": 1, "left": "f(", "middle": "a", "right": ")"}\n')
    assert json.loads(done.stdout)["complete"] is True, done.stderr


@pytest.mark.slow
def test_replay(light, tmp_path):
    cases = ["--limit", "2", "--tokens", "8", "--workers", "1"]
    done = light("replay", "stdlib", "--cases", ROOT / "datasets" / "sample.jsonl", *cases, "--out", "run")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "report.md").exists()


async def test_the_server(start_editor, hidden):
    editor = await start_editor(*FIMLSP, "--stdio", env=hidden)
    await editor.initialize({"model": "/dev/null", "confidence": 0, "deadlineMs": 60_000})
    editor.open("def area(width, height):\n    return widt<|>\n")
    assert await editor.suggestion()
    assert editor.last_status().model == "bundled"


PATIENT_DOCTOR = f"""
import sys
sys.argv[0] = "fimlsp"
from fimlsp.lsp_server.command_line import doctor_command
doctor_command.START_S = {HANG_GUARD_S}
from fimlsp.__main__ import main
main()
"""


@pytest.mark.slow
def test_doctor(light):
    done = light("doctor", program=(sys.executable, "-c", PATIENT_DOCTOR))
    assert done.returncode == 0, done.stdout
    assert "transformers " in done.stdout
    assert "not installed device: checkpoints" in done.stdout
    assert "failed" not in done.stdout


def test_models_can_be_listed(light):
    done = light("models", "list")
    assert done.returncode == 0, done.stderr
    assert "bundled" in done.stdout
    assert "need PyTorch and transformers" in done.stdout


def test_training_says_what_it_needs(light, remedy):
    done = light("train", "run", "-o", "model")
    assert done.returncode == 1
    assert done.stderr == f"Error: Training needs PyTorch and transformers. {remedy}\n"


def test_a_checkpoint_says_what_it_needs(light, remedy, tmp_path):
    from ..models import tiny_checkpoints as checkpoints

    folder = checkpoints.make(tmp_path, checkpoints.santacoder, checkpoints.SANTACODER)
    done = light("complete", EXAMPLE, "--at", "43:18", "--model", folder)
    assert done.returncode == 1
    assert done.stderr == f"Error: Cannot load {folder}: it needs PyTorch and transformers. {remedy}\n"


def test_what_is_installed_are_the_packages_themselves_with_their_bounds(remedy):
    """The index may have another project of our name."""
    assert packages_of("checkpoints") == PACKAGES
    assert remedy.endswith(f" install {shlex.join(PACKAGES)}")
