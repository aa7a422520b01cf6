"""The environments that editors make: whole or not at all, with locked versions, and errors in plain words.

Most tests copy pip from one environment (`quick_maker.py`), because ensurepip takes most of the time.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import venv
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKER = ROOT / "editors" / "environment"
QUICK_MAKER = Path(__file__).with_name("quick_maker.py")


def load(name):
    """A module of the maker, which is no package."""
    spec = importlib.util.spec_from_file_location(name, MAKER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


pip_output = load("pip_output")


def make_wheel(folder, name, version="1.0", main="print('fimlsp, version 1.0')", requires=()):
    """A wheel; *requires* as in its metadata."""
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *requires]
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", "")
        wheel.writestr(f"{name}/__main__.py", main)
        wheel.writestr(f"{info}/METADATA", "\n".join(metadata) + "\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return path


REQUIRES = ["Requires-Dist: helper", "Provides-Extra: more", "Requires-Dist: another; extra == 'more'"]


@pytest.fixture
def supplies(tmp_path):
    """A wheel of fimlsp that needs a helper, and the wheels of that in a folder."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name in ("helper", "another"):
        make_wheel(wheels, name)
    make_wheel(wheels, "helper", "2.0")
    (tmp_path / "constraints.txt").write_text("helper==1.0\nanother==1.0\n")
    return make_wheel(tmp_path, "fimlsp", requires=REQUIRES)


@pytest.fixture(scope="session", autouse=True)
def packages_with_pip(tmp_path_factory):
    """Make a folder of packages with nothing but pip, for `QUICK_MAKER`."""
    folder = tmp_path_factory.mktemp("pip") / "environment"
    venv.create(folder, with_pip=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PACKAGES_WITH_PIP", str(packages))
        yield


def command_for(wheel, *more, offline=True, maker=QUICK_MAKER):
    """The command that makes an environment of *wheel* beside it."""
    here = wheel.parent
    wheelhouse = ("--wheelhouse", here / "wheels") if offline else ()
    options = ("--folder", here / "made", "--source", wheel, "--constraints", here / "constraints.txt")
    return [sys.executable, str(maker), *map(str, (*options, *wheelhouse, *more))]


def make(wheel, *more, offline=True, maker=QUICK_MAKER, **variables):
    """Make an environment; returns all messages, and the last one."""
    done = subprocess.run(
        command_for(wheel, *more, offline=offline, maker=maker),
        capture_output=True,
        text=True,
        env=os.environ | variables,
        check=False,
    )
    assert not done.stderr, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    return told, told[-1]


def installed(python):
    """The packages beside *python* with their versions."""
    site = next((Path(python).parents[1] / "lib").glob("python*/site-packages"))
    return {path.stem.rpartition(".dist")[0] or path.stem for path in site.glob("*.dist-info")}


def environments(wheel):
    return sorted((wheel.parent / "made").glob("environment-*"))


@pytest.mark.slow
def test_made_once_of_what_is_locked_and_again_for_an_extra_another_wheel_or_when_broken(supplies):
    told, last = make(supplies, maker=MAKER)
    assert {"step": "processing fimlsp 1.0"} in told
    python = last["python"]
    assert {"fimlsp-1.0", "helper-1.0"} <= installed(python)
    assert make(supplies)[0] == [last]

    extra = make(supplies, "--extra", "more")[1]["python"]
    assert extra != python
    assert "another-1.0" in installed(extra)
    assert make(supplies)[0] == [{"python": extra}]

    make_wheel(supplies.parent, "fimlsp", main="print('fimlsp, version 1.1')", requires=REQUIRES)
    newer = make(supplies)[1]["python"]
    assert newer != extra
    assert not Path(python).exists()
    assert json.loads((supplies.parent / "made" / "current.json").read_text())["version"] == "1.1"

    shutil.rmtree(Path(newer).parents[1] / "lib")
    mended = make(supplies)[1]["python"]
    assert mended != newer
    assert "fimlsp-1.0" in installed(mended)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("steps", "how"),
    [
        (["processing"], signal.SIGKILL),
        pytest.param(["processing"], signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param(["making the environment", "unpacking"], signal.SIGKILL, marks=pytest.mark.slow),
    ],
)
def test_after_interruptions_the_next_attempt_makes_it(supplies, steps, how):
    """Wherever the machine is switched off, and where the editor ends it in the midst."""
    for step in steps:
        interrupt(supplies, step, how, MAKER if step == "making the environment" else QUICK_MAKER)
        assert not (supplies.parent / "made" / "current.json").exists()
    assert "python" in make(supplies)[1]
    assert len(environments(supplies)) == 1


def interrupt(wheel, step, how, maker):
    """Start to make an environment, and kill all its processes at a step."""
    command = command_for(wheel, maker=maker)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    with process:
        for line in process.stdout:
            if json.loads(line).get("step", "").startswith(step):
                break
        os.killpg(process.pid, how)


def test_two_windows_make_one_environment(supplies):
    both = [subprocess.Popen(command_for(supplies), stdout=subprocess.PIPE, text=True) for _ in range(2)]
    last = [json.loads(entry.communicate()[0].splitlines()[-1]) for entry in both]
    assert last[0] == last[1]
    assert len(environments(supplies)) == 1


def test_nobody_but_what_it_depends_on_is_asked_for(supplies):
    """The index may have another project of our name."""
    asked = []

    class Index(BaseHTTPRequestHandler):
        def do_GET(self):
            name = self.path.strip("/")
            asked.append(name)
            files = [path.name for path in (supplies.parent / "wheels").glob(f"{name}-*")]
            path = supplies.parent / "wheels" / name
            page = "".join(f"<a href='/{file}'>{file}</a>" for file in files).encode()
            body = path.read_bytes() if path.is_file() else page
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        index = f"http://127.0.0.1:{server.server_port}/"
        nothing = {"PIP_CONFIG_FILE": os.devnull, "PIP_FIND_LINKS": "", "PIP_EXTRA_INDEX_URL": ""}
        last = make(supplies, "--extra", "more", offline=False, PIP_INDEX_URL=index, **nothing)[1]
        server.shutdown()
    assert "python" in last
    assert {name for name in asked if not name.endswith(".whl")} == {"another", "helper"}


def test_a_folder_of_wheels_that_lacks_one(supplies):
    for wheel in (supplies.parent / "wheels").glob("helper-*"):
        wheel.unlink()
    error = make(supplies)[1]["error"]
    wheels = supplies.parent / "wheels"
    assert error.startswith(f"The folder {wheels} has no wheel of helper==1.0 for this Python;")
    assert environments(supplies) == []


def test_a_server_that_does_not_start_is_not_taken(supplies):
    make_wheel(supplies.parent, "fimlsp", main="raise SystemExit(1)", requires=REQUIRES)
    assert "-m fimlsp --version fails" in make(supplies)[1]["error"]
    assert not (supplies.parent / "made" / "current.json").exists()


def test_what_is_not_there_or_cannot_be_written_is_told(supplies):
    missing = supplies.with_name("nothing.whl")
    assert make(missing)[1] == {"error": f"{missing} is not there; name a folder or file that is."}
    (supplies.parent / "made").write_text("a file where a folder is to be")
    error = make(supplies)[1]["error"]
    assert error.startswith(f"{supplies.parent / 'made'} cannot be written (")


def test_a_python_without_pip_says_so(supplies, tmp_path):
    hiding = tmp_path / "hiding"
    hiding.mkdir()
    (hiding / "ensurepip.py").write_text("raise ImportError")
    told = make(supplies, maker=MAKER, PYTHONPATH=str(hiding))[0]
    assert [entry["unsuitable"][:31] for entry in told] == ["it comes without pip and venv; "]


@pytest.mark.parametrize("name", ["python2.7", "python3.6", "python3.8", "python3.9"])
def test_an_old_python_says_so(name):
    version = name.removeprefix("python")
    programs = (shutil.which(name), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    works = [entry for entry in programs if entry and version in version_of(entry)]
    if not works:
        pytest.skip(f"there is no {name} here")
    done = subprocess.run([str(works[0]), str(MAKER)], capture_output=True, text=True, check=False)
    assert json.loads(done.stdout) == {
        "unsuitable": f"it is Python {version}, and fimlsp needs 3.10 or newer"
    }


def version_of(program):
    """The output of `--version`; Python 2 writes it to standard error."""
    done = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode == 0 else ""


STEPS = [
    ("Collecting torch>=2.4 (from fimlsp)", "collecting torch>=2.4"),
    ("  Downloading torch-2.4-cp311-cp311-linux.whl (800.1 MB)", "downloading torch 2.4 (800.1 MB)"),
    (
        "  Downloading https://somewhere/a/lark-1.3.1-py3-none-any.whl (11 kB)",
        "downloading lark 1.3.1 (11 kB)",
    ),
    ("Processing /somewhere/fimlsp-0.1.0-py3-none-any.whl", "processing fimlsp 0.1.0"),
    ("  Using cached rich-15.0.0-py3-none-any.whl.metadata (18 kB)", "using cached rich 15.0.0 (18 kB)"),
    ("Installing collected packages: lark, fimlsp", "unpacking"),
    ("Successfully installed fimlsp-0.1.0", "done"),
    ("Requirement already satisfied: lark", None),
    ("", None),
]


@pytest.mark.parametrize(("line", "step"), STEPS, ids=[line for line, _ in STEPS])
def test_a_step_of_pip(line, step):
    assert pip_output.step_of(line) == step


FAILURES = [
    (
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
        "The disk is full;",
    ),
    (
        "WARNING: Retrying: NewConnectionError('Connection refused')\n"
        "ERROR: Could not find a version that satisfies the requirement lark==1 (from versions: none)",
        "The package index cannot be reached;",
    ),
    (
        "ERROR: Could not find a version that satisfies the requirement lark==1 (from versions: 2)",
        "The package index that pip is set up for has no lark==1 for this Python",
    ),
    (
        "ERROR: Cannot install fimlsp==0.2.0 because these package versions have conflicting dependencies.\n"
        "    fimlsp 0.2.0 depends on bracex\n    The user requested (constraint) bracex==3.2.2",
        "The package index that pip is set up for has no bracex==3.2.2 for this Python",
    ),
    ("ERROR: Something else\nERROR: more of it", "pip failed: Something else"),
    ("Segmentation fault", "pip failed: Segmentation fault"),
    ("", "pip failed: exit status 9"),
]


@pytest.mark.parametrize(("printed", "told"), FAILURES, ids=[told for _, told in FAILURES])
def test_why_pip_failed(printed, told):
    assert pip_output.explain(printed.splitlines(), 9, None).startswith(told)


@pytest.fixture
def maker(monkeypatch):
    """The module of the maker with a name; the name is free again afterwards."""
    monkeypatch.syspath_prepend(MAKER)
    known = {*sys.modules}
    yield importlib.import_module
    for name in {*sys.modules} - known:
        del sys.modules[name]


class SharingViolationError(PermissionError):
    """What Windows raises while another process reads the old file, or scans the new one."""


@pytest.mark.parametrize(("n_violations", "is_replaced"), [(0, True), (3, True), (99, False)])
def test_a_file_that_another_window_reads_is_replaced_a_moment_later(
    tmp_path, monkeypatch, maker, n_violations, is_replaced
):
    folder = maker("folder")
    real, tries = Path.replace, iter(range(99))

    def violate(path, target):
        if next(tries) < n_violations:
            raise SharingViolationError(13, "The process cannot access the file")
        return real(path, target)

    monkeypatch.setattr(folder, "WAITS_S", (0, 0, 0, 0))
    (tmp_path / "fresh").write_text("new")
    (tmp_path / "old").write_text("old")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", violate)
        if is_replaced:
            folder.replace_file(tmp_path / "fresh", tmp_path / "old")
        else:
            with pytest.raises(SharingViolationError):
                folder.replace_file(tmp_path / "fresh", tmp_path / "old")
    assert (tmp_path / "old").read_text() == ("new" if is_replaced else "old")


def test_pip_locks_the_packages_with_which_it_builds(tmp_path, monkeypatch, maker):
    """A folder with a blank in its name, as homes on Windows have, is one address."""
    monkeypatch.setenv("PIP_TARGET", "elsewhere")
    variables = maker("making").environment_variables(tmp_path / "a b" / "constraints.txt")
    assert variables["PIP_CONSTRAINT"] == variables["PIP_BUILD_CONSTRAINT"]
    assert variables["PIP_CONSTRAINT"].endswith("/a%20b/constraints.txt")
    assert "PIP_TARGET" not in variables
