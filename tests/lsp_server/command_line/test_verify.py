"""`fimlsp verify`: verdicts as JSON lines, from the real engine."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from fimlsp.languages import LANGUAGES
from fimlsp.languages.python import python
from fimlsp.lsp_server.command_line.cli import command_line
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.verification import verify_case

from ..waiting import HANG_GUARD_S


@pytest.fixture(scope="module")
def engine():
    return Engine(python())


RELAXED = [
    ("x = <||>\n", None),
    ("x = ]\n<|y|>\n", [(4, 5, " a")]),
    ("<|y|>\nx = ]\n", [(4, 4, " [ ")]),
    ("x = ]\n<|y|>\nx = ]\n", [(4, 5, " a"), (10, 10, " [ ")]),
]


@pytest.mark.parametrize(("marked", "relaxed"), RELAXED)
def test_what_an_editor_would_leave_out(engine, marked, relaxed):
    left, _, rest = marked.partition("<|")
    middle, _, right = rest.partition("|>")
    found = verify_case(engine, {"left": left, "middle": middle, "right": right})["relaxed"]
    assert (found and [(change["start"], change["end"], change["text"]) for change in found]) == relaxed


# left<|middle|>right, connectable, complete, viable bytes, shortest
VERDICTS = [
    ("x = <|1|>\n", True, True, 1, ""),
    ("x = <||>\n", True, False, 0, None),
    ("x = (<|1|>)\n", True, True, 1, ""),
    ("x = (<|1))|>)\n", True, False, 2, None),
    ("x = '<|é|>'\n", True, True, 2, ""),
    ("<||>", True, True, 0, ""),
    ("x = 1\n<|y =|>\n", True, False, 3, None),
    ("x = ]\n<|y|>\n", False, False, 0, None),
    ("<|y|>\nx = ]\n", False, False, 0, None),
    ("if x:\n    <|pass|>\nelse:\n    pass\n", True, True, 4, ""),
    ("def f():\n    return <|a b|>\n", True, False, 2, ""),
]


@pytest.mark.parametrize(("marked", "connectable", "complete", "viable", "shortest"), VERDICTS)
def test_verdicts(engine, marked, connectable, complete, viable, shortest):
    left, _, rest = marked.partition("<|")
    middle, _, right = rest.partition("|>")
    verdict = verify_case(engine, {"left": left, "middle": middle, "right": right})
    assert (verdict["connectable"], verdict["complete"], verdict["viable_bytes"]) == (
        connectable,
        complete,
        viable,
    )
    assert (verdict["shortest"] is not None) == connectable
    if shortest is not None:
        assert verdict["shortest"] == shortest
    if connectable:
        ast.parse(left + middle.encode()[:viable].decode() + verdict["shortest"] + right)


def test_viable_bytes_may_end_inside_a_character(engine):
    verdict = verify_case(engine, {"left": "x = b'", "middle": "ab€", "right": "'\n"})
    assert (verdict["viable_bytes"], verdict["shortest"]) == (2, "")
    verdict = verify_case(engine, {"left": "", "middle": "€", "right": " = 1\n"})
    assert verdict["connectable"]
    compile(verdict["shortest"] + " = 1\n", "", "exec")


MALFORMED = [
    (b"{", None, "Expecting"),
    (b"[]", None, "not a JSON object"),
    (b"[" * 100_000, None, "nested too deeply"),
    (b"\xff", None, "decode"),
    (b'{"id": 7}', 7, "left must be a string"),
    (b'{"id": "x", "left": "", "middle": 3, "right": ""}', "x", "middle must be a string"),
    (b'{"id": [1], "left": "", "middle": "", "right": "\\ud800"}', [1], "lone surrogate"),
]


def test_lines_in_and_out_in_the_same_order_and_no_model():
    good = json.dumps({"id": "good", "left": "x = ", "middle": "1", "right": "\n"}).encode()
    lines = b"\n".join(line for bad, _, _ in MALFORMED for line in (bad, good)) + b"\n\n"
    script = (
        "import sys\nfrom fimlsp.lsp_server.command_line.cli import command_line\n"
        "try:\n    command_line(['verify'])\n"
        "finally:\n    assert not {'torch', 'transformers', 'fimlsp.models.loading'} & sys.modules.keys()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], input=lines, capture_output=True, timeout=HANG_GUARD_S
    )
    assert ended.returncode == 0, ended.stderr
    answers = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(answers) == 2 * len(MALFORMED)
    for (_, case_id, sentence), error, verdict in zip(MALFORMED, answers[::2], answers[1::2], strict=True):
        assert error["id"] == case_id
        assert sentence in error["error"]
        assert verdict["id"] == "good"
        assert verdict["complete"] is True
        assert verdict.keys() == {
            "id",
            "connectable",
            "complete",
            "viable_bytes",
            "shortest",
            "relaxed",
            "ignored",
            "setup_ms",
            "feed_ms",
        }


JSON_VERDICTS = [
    ('{"a": <|1|>}', True, True, 1, ""),
    ('{"a": <||>}', True, False, 0, None),
    ('{"a": [<|1]]|>}', True, False, 2, None),
    ('["<|é|>"]', True, True, 2, ""),
    ("[1,]<|2|>", False, False, 0, None),
]


def test_what_compiles():
    line = json.dumps({"id": 1, "left": "f(a=1, ", "middle": "a=2", "right": ")\n"})
    parsed, compiled = (
        json.loads(CliRunner().invoke(command_line, ["verify", "--check", check], input=line).output)
        for check in ("parse", "compile")
    )
    assert parsed["complete"]
    assert not compiled["complete"]
    assert compiled["viable_bytes"] == len("a")


def test_what_is_wrong_with_one_side_alone_is_told():
    line = json.dumps({"id": 1, "left": "def f(a, a): pass\nx = ", "middle": "1", "right": "\n"})
    found = CliRunner().invoke(command_line, ["verify", "--check", "compile"], input=line).output
    (ignored,) = json.loads(found)["ignored"]
    assert not json.loads(found)["connectable"]
    assert (ignored["start"], ignored["end"]) == (len("def f("), len("def f(a, a"))
    assert "'a'" in ignored["message"]


def test_json():
    cases = []
    for marked, *_ in JSON_VERDICTS:
        left, _, rest = marked.partition("<|")
        middle, _, right = rest.partition("|>")
        cases.append(json.dumps({"left": left, "middle": middle, "right": right}))
    found = CliRunner().invoke(command_line, ["verify", "--language", "json"], input="\n".join(cases))
    assert found.exit_code == 0, found.output
    for line, (_, connectable, complete, viable, shortest) in zip(
        found.output.splitlines(), JSON_VERDICTS, strict=True
    ):
        verdict = json.loads(line)
        assert (verdict["connectable"], verdict["complete"]) == (connectable, complete)
        assert verdict["viable_bytes"] == viable
        assert (verdict["shortest"] is not None) == connectable
        assert shortest is None or verdict["shortest"] == shortest


REFUSED = [
    (["--start", "rule"], "--start needs --grammar"),
    (["--grammar", __file__, "--language", "json"], "Give either --language or --grammar."),
    (["--language", "cobol"], f"'cobol' is not one of {', '.join(LANGUAGES)}."),
    (["--language", "json", "--python-version", "3.11"], "--python-version is for --language python"),
]


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED)
def test_options_that_do_not_go_together(arguments, sentence):
    found = CliRunner().invoke(command_line, ["verify", *arguments], input="")
    assert found.exit_code == 2
    assert sentence in found.output
