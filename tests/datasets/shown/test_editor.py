"""The editor against a server of a few lines: the messages it sends, and its replies."""

import sys
from pathlib import Path

import pytest

from fimlsp.datasets.shown.editor import Editor, EditorError

SERVER = Path(__file__).with_name("scripted_lsp.py")


def opened(warn=lambda _: None, state="idle", **options):
    return Editor([SERVER.parent], options, warn, (sys.executable, str(SERVER), state))


@pytest.mark.parametrize(
    ("left", "right", "texts", "status", "reason"),
    [
        ("x = ", "\n", ("0:4 2", "another"), "suggestion", None),
        ("# list\nx", "", ("1:1 2", "another"), "suggestion", None),
        ("# é\n'𝄞é' + ", "y\n", ("1:8 2", "another"), "suggestion", None),
        ("# call\nx", "", ("f($, g())", "another"), "suggestion", None),
        ("# nothing\n", "", (), "none", "a reason"),
    ],
)
def test_an_answer_has_texts_and_the_status(left, right, texts, status, reason):
    with opened() as editor:
        assert editor.model == "scripted"
        reply = editor.suggestion(SERVER, left, right)
    assert (reply.texts, reply.status, reply.reason) == (texts, status, reason)
    assert reply.names == (None if texts else "no names")
    assert reply.closing == ("))" if left.startswith("# call") else "")
    assert reply.ms > 0


# the text left and right of a cursor, the text that is opened, and the words that are typed
TYPED = [
    ("a = b(", ")\n", ")\n", ["a", " ", "=", " ", "b", "("]),
    ("a\n    b.c", "\n", "a\n    \n", ["b", ".", "c"]),
    ("def f():\n    ", "\n\nf()\n", "def f():\n\nf()\n", ["\n    "]),
    ("a\n\n", "b\n", "a\nb\n", ["\n"]),
    ("", "a\n", "a\n", []),
    ("    ", "", "", ["    "]),
    ("# 𝄞\n'𝄞' ", "é\n", "# 𝄞\né\n", ["'", "𝄞", "'", " "]),
]


@pytest.mark.parametrize(("left", "right", "text", "typed"), TYPED)
def test_the_line_of_the_cursor_is_typed_and_names_are_awaited(left, right, text, typed):
    warnings = []
    with opened(warnings.append) as editor:
        editor.suggestion(SERVER, left, right)
    messages = [message for word in [text, *typed] for message in (word, "names")]
    assert warnings[1:] == [f"{messages} made {left + right!r}"]


def test_warnings_are_passed_on_with_the_options_that_were_sent():
    warnings = []
    with opened(warnings.append, maxTokens=3):
        pass
    assert warnings == ["options {'learn': False, 'maxTokens': 3}"]


@pytest.mark.parametrize(
    ("left", "message"), [("# die\n", "has ended or did not answer"), ("# refuse\n", "refuses .*: no")]
)
def test_errors_are_one_sentence(left, message):
    with opened() as editor, pytest.raises(EditorError, match=message):
        editor.suggestion(SERVER, left, "")


def test_a_server_without_a_model_is_reported():
    with pytest.raises(EditorError, match="no model: because"):
        opened(state="none")


def test_a_server_that_ended_is_reported():
    with opened() as editor:
        with pytest.raises(EditorError):
            editor.suggestion(SERVER, "# die\n", "")
        with pytest.raises(EditorError, match="ended"):
            editor.suggestion(SERVER, "x", "")
