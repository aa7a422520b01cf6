"""Completions without the model: type-through, the cache, and prefetching."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fimlsp.lsp_server.messages import Complete, Limits
from fimlsp.lsp_server.session.requests import RequestKey
from fimlsp.lsp_server.session.status import HEADER_ALONE
from fimlsp.lsp_server.session.suggestions import Suggestion

from ..local_editor import URI, LocalEditor, LocalPool
from ..waiting import until

SAY = "# say 'return value', 'raise value'"


@pytest.fixture
async def start():
    """Start an editor: `await start(option=value)`."""
    editors = []

    async def start_one(pool=None, cursor_inside=False, **options):
        editor = LocalEditor(pool or LocalPool(), options, cursor_inside)
        await editor.start()
        editors.append(editor)
        return editor

    yield start_one
    for editor in editors:
        await editor.session.close()


@pytest.fixture
async def editor(start):
    return await start(minLength=1)


@pytest.fixture
async def calling(start):
    """An editor that can put the cursor between the brackets of a call."""
    return await start(cursor_inside=True, minLength=1)


async def shown(editor, marked):
    """Open a text and have the first suggestion for it shown."""
    editor.open(marked)
    return await editor.suggestion()


async def after(editor, edits, cursor):
    """The request at *cursor* after *edits*, and its result; both count columns from the cursor."""
    at = editor.character
    for column, count, text in edits:
        editor.edit((0, at + column), (0, at + column + count), text)
    asked = editor.ask(at + cursor)
    return asked, await editor.completer.result(asked)


# after a suggestion of "return value" at the end of the line: edits (column from the cursor, characters
# replaced, text), then the cursor (column from the first one), and the rest that is suggested there
TYPED = [
    ([(0, 0, "r")], 1, "eturn value"),
    ([(0, 0, "r"), (1, 0, "e"), (2, 0, "t")], 3, "urn value"),
    ([(0, 0, "return ")], 7, "value"),
    ([(0, 0, "retx"), (3, 1, "")], 3, "urn value"),
    ([(0, 0, "ret"), (1, 2, "")], 1, "eturn value"),
    ([(0, 0, "xx"), (0, 2, "re")], 2, "turn value"),
    ([(0, 0, "rue")], 1, "eturn val"),
    ([(0, 0, "")], 0, "return value"),
    ([(0, 0, "return value")], 12, None),
    ([(0, 0, "x")], 1, None),
    ([(0, 0, "r"), (-1, 1, "'")], 1, None),
    ([(0, 0, "r"), (1, 1, "x")], 1, None),
    ([(0, 0, "re")], 0, None),
]


@pytest.mark.parametrize(("edits", "cursor", "rest"), TYPED)
async def test_what_is_typed_through_needs_no_model(editor, edits, cursor, rest):
    assert await shown(editor, SAY + "<|>\nnext\n") == "return value"
    asked, offer = await after(editor, edits, cursor)
    assert (offer.texts[0] if asked.typed_along else None) == rest
    assert asked.is_reused is (rest is not None)


async def test_deleted_text_is_not_typed_through(editor):
    assert await shown(editor, SAY + "<|>\nnext\n") == "return value"
    at = editor.character
    editor.edit((0, at), (0, at), "return ")
    for column in range(6, -1, -1):
        editor.edit((0, at + column), (0, at + column + 1), "")
    asked = editor.ask(at)
    await editor.completer.result(asked)
    assert (asked.typed_along, asked.is_reused) == (None, False)
    assert asked.cursor.recent.deleted == (b"return ",)


CALL = "# call 'total()'"

# as above; the cursor of the suggestion is before its ")"
CALLED = [
    ([(0, 0, "")], 0, "total()"),
    ([(0, 0, "tot")], 3, "al()"),
    ([(0, 0, "total")], 5, "()"),
    ([(0, 0, "total(")], 6, None),
    ([(0, 0, "total("), (6, 0, ")")], 6, None),
    ([(0, 0, "x")], 1, None),
]


@pytest.mark.parametrize(("edits", "cursor", "rest"), CALLED)
async def test_a_call_that_is_left_open_is_typed_through(calling, edits, cursor, rest):
    assert await shown(calling, CALL + "<|>\nnext\n") == "total()"
    asked, offer = await after(calling, edits, cursor)
    told = (offer.texts[0], offer.closing) if asked.typed_along else (None, ")")
    assert told == (rest, ")")


async def test_behind_a_call_that_was_taken_it_is_asked_ahead_between_its_brackets(calling):
    await shown(calling, CALL + "<|>\nnext\n")
    at = calling.character
    calling.edit((0, at), (0, at), "total()")
    asked = calling.ask(at + len("total("))
    await calling.completer.result(asked)
    assert calling.counted.prefetched == 1


async def test_by_hand_the_call_that_is_shown_comes_first_and_is_left_open(calling):
    await shown(calling, CALL + "<|>\nnext\n")
    offer = await calling.offer(trigger="invoked")
    assert (offer.texts, offer.closing) == (("total()",), ")")
    assert (await calling.offer(trigger="invoked", line=1, character=0)).closing == ""


async def test_a_header_is_named_in_the_status_and_never_invoked(editor):
    assert await shown(editor, "# header 'if size:'<|>\nnext\n") == "if size:"
    assert editor.session.status.now.header
    assert editor.reason == HEADER_ALONE
    asked, rest = await after(editor, [(0, 0, "if ")], 3)
    assert (rest.texts, bool(asked.typed_along)) == (("size:",), True)
    assert editor.session.status.now.header
    editor.open("# header 'if size:'<|>\nlast\n")
    assert await editor.suggestion() == "if size:"
    assert (await editor.offer(trigger="invoked")).texts == ("if size: ...",)
    assert not editor.session.status.now.header


async def test_only_an_editor_that_says_so_is_told_to_put_the_cursor_somewhere(editor):
    editor.open(CALL + "<|>\nnext\n")
    offer = await editor.offer()
    assert (offer.texts, offer.closing) == (("total()",), "")


@given(st.text("ab\n", max_size=5), st.text("abé", max_size=6), st.text("ab\n", max_size=5), st.data())
def test_what_was_typed_and_the_rest_are_the_whole_suggestion(left, text, right, data):
    suggestion = Suggestion(
        "1",
        URI,
        len(left.encode()),
        len(right.encode()),
        (text.encode(),),
        RequestKey(0, 0, (3, 11), Limits()),
    )
    before, behind = data.draw(st.text("abé", max_size=3)), data.draw(st.text("abé", max_size=3))
    there = f"{left}{before}{behind}{right}".encode()
    remainders = suggestion.remainders(there, len((left + before).encode()))
    for rest in remainders:
        assert before + rest.decode() + behind == text
        assert rest
    assert bool(remainders) is (
        len(before + behind) < len(text)
        and text == before + text[len(before) : len(text) - len(behind)] + behind
    )


async def test_edits_elsewhere_end_a_suggestion(editor):
    await shown(editor, "x = 1\n" + SAY + "<|>")
    editor.edit((0, 0), (0, 1), "y")
    editor.type("r")
    assert not editor.ask().is_reused


async def test_characters_are_typed_through_whole(editor):
    assert await shown(editor, "# say 'éüß'<|>") == "éüß"
    editor.type("é")
    assert await editor.suggestion() == "üß"


async def test_other_line_ends_of_the_editor_are_an_accept_all_the_same(editor):
    assert await shown(editor, "# say 'a\\nb'<|>\r\n") == "a\nb"
    editor.type("a\r\nb")
    assert editor.counted.accepted == 1


@pytest.mark.parametrize(
    ("text", "typed", "rest"),
    [
        ("a\r\n  b", "a\r\n  ", "b"),
        ("a\r\n  b", "a\n", "  b"),
        ("a\n  b", "a\r\n", "  b"),
        ("a\r\nb\r\nc", "a\n", "b\r\nc"),
        ("a\r\nb", "b", ""),
    ],
)
def test_a_line_end_of_either_kind_is_typed_through(text, typed, rest):
    key = RequestKey(0, 0, (3, 11), Limits())
    suggestion = Suggestion("1", URI, 0, 0, (text.encode(),), key)
    assert b"".join(suggestion.remainders(typed.encode(), len(typed))) == rest.encode()


async def test_a_text_seen_before_is_answered_from_the_cache(editor):
    assert await shown(editor, "x<|>") == "scripted v1 'x' ''"
    editor.edit((0, 0), (0, 0), "y")
    assert await editor.suggestion(2) == "scripted v2 'yx' ''"
    editor.edit((0, 0), (0, 1), "")
    assert await editor.suggestion() == "scripted v1 'x' ''"
    assert await editor.suggestion() == "scripted v1 'x' ''"
    assert (editor.counted.cached, editor.counted.typed_through) == (2, 0)
    editor.session.reload()
    assert await editor.suggestion() == "scripted v3 'x' ''"


async def test_the_cache_is_bounded_and_may_be_off(start):
    for size in (0, 2):
        editor = await start(cacheSize=size)
        for text in ("a", "b", "c", "d"):
            await shown(editor, text + "<|>")
        for text, is_kept in (("d", size > 0), ("c", size > 0), ("b", False)):
            editor.open(text + "<|>")
            assert editor.ask().is_reused is is_kept, text


@pytest.mark.parametrize(
    "other", [{"maxTokens": 3}, {"contextEscape": True}, {"pythonVersion": "3.8"}, {"model": "other"}]
)
async def test_other_settings_are_other_questions(editor, start, other):
    editor = await start()
    await shown(editor, "x<|>")
    settings = editor.session.settings
    changed = (await start(**other)).session.settings
    editor.session.configure(changed)
    editor.completer.suggestions.forget_all()
    assert not editor.ask().is_reused
    editor.session.configure(settings)


async def test_after_an_accept_the_next_completion_is_there(editor):
    await shown(editor, "<|>\n")
    editor.type("scripted v1 '' ''")
    await until(lambda: not editor.completer.requests)
    asked = editor.ask()
    assert asked.is_reused
    assert "v2" in (await editor.completer.result(asked)).texts[0]
    counted = editor.counted
    assert (counted.accepted, counted.accepted_characters, counted.prefetched) == (1, 17, 1)


async def test_a_request_meets_the_one_that_was_asked_ahead(editor):
    await shown(editor, "<|>\n")
    editor.type("scripted v1 '' ''")
    assert await editor.suggestion() is not None
    worker = next(iter(editor.session._pool.workers.values())).process
    assert sum(isinstance(message, Complete) for message in worker.seen) == 2
    assert editor.counted.prefetched == 1


async def test_nothing_is_asked_ahead_when_only_asked_by_hand(start):
    editor = await start(automatic=False, minLength=1)
    editor.open("<|>")
    await editor.suggestion(trigger="invoked")
    editor.type("scripted v1 '' ''")
    assert not editor.completer.requests


async def test_several_candidates_by_hand_the_one_shown_first(editor):
    assert await shown(editor, SAY + "<|>\n") == "return value"
    assert (await editor.offer(trigger="invoked")).texts == ("return value", "raise value")
    editor.type("ra")
    offer = await editor.offer(trigger="invoked")
    assert offer.texts == ("ise value",)
    editor.completer.suggestions.accept(offer.id + ".0")
    assert editor.counted.accepted == 1


async def test_the_candidate_on_screen_stays_the_first(editor):
    editor.open(SAY + "<|>\n")
    editor.session.open("file:///b.py", "python", 1, "")
    assert await editor.suggestion() == "return value"
    editor.type("r")
    assert await editor.suggestion() == "eturn value"
    editor.edit((0, 0), (0, len(SAY)), "# say 'other', 'eturn value'")
    assert (await editor.offer(len("# say 'other', 'eturn value'"), "invoked")).texts[0] == "other"


async def test_what_is_asked_twice_is_worked_on_once(editor):
    editor.open("# slow<|>\n")
    one, other = editor.ask(), editor.ask()
    assert len(editor.completer.requests) == 1
    one.future.cancel()
    await asyncio.sleep(0)
    assert not other.future.done()
    editor.type("x")
    assert (await other.future).stale


async def test_accepting_and_dismissing(editor):
    editor.open("# say 'first one'<|>")
    offer = await editor.offer()
    for _ in range(2):
        editor.completer.dismiss(offer.id + ".0")
    editor.completer.suggestions.accept(offer.id + ".0")
    editor.completer.suggestions.accept("unknown")
    assert await editor.suggestion() is None
    assert editor.reason == "this suggestion was dismissed"
    assert await editor.suggestion(trigger="invoked") == "first one"
    counted = editor.counted
    assert (counted.accepted, counted.dismissed, counted.shown) == (0, 1, 2)
    assert counted.reasons == {"this suggestion was dismissed": 1}


DISMISSED = [
    ("r", None),
    ("retur", None),
    ("return val", None),
    ("x", "return value"),
    ("return Z", "return value"),
]


@pytest.mark.parametrize(("typed", "suggested"), DISMISSED)
async def test_what_was_dismissed_does_not_come_back_with_the_next_key(editor, typed, suggested):
    editor.open("# rest 'return value'<|>\n")
    editor.completer.dismiss((await editor.offer()).id)
    for key in typed:
        editor.type(key)
        found = await editor.suggestion()
    assert found == suggested
    assert suggested is not None or editor.reason == "this suggestion was dismissed"
    if suggested is None:
        assert await editor.suggestion(trigger="invoked") == "return value".removeprefix(typed)


async def test_what_was_asked_for_by_hand_stays_while_it_is_typed_through(start):
    editor = await start(minLength=8, confidence=0.9)
    editor.open(SAY + "<|>\n")
    assert await editor.suggestion(trigger="invoked") == "return value"
    editor.type("return")
    asked = editor.ask()
    assert asked.is_reused
    assert (await editor.completer.result(asked)).texts == (" value",)


async def test_what_was_shown_while_typing_does_not_answer_by_hand(start):
    editor = await start(candidates=1, minLength=1)
    assert "confidence=0.5, min_length=1" in await shown(editor, "# told<|>\n")
    asked = editor.ask(trigger="invoked")
    assert not asked.is_reused
    assert "confidence=0.0, min_length=0" in (await editor.completer.result(asked)).texts[1]


async def test_words_are_accepted_partly(editor):
    await shown(editor, "<|>")
    for word in ("scripted", " ", "v1 '' ''"):
        editor.type(word)
        await editor.suggestion()
    counted = editor.counted
    assert (counted.accepted_partly, counted.accepted, counted.typed_through) == (1, 1, 2)


@pytest.mark.parametrize(
    ("text", "trigger", "suggested"),
    [
        ("a", "automatic", None),
        ("  a ", "menu", None),
        ("ab", "automatic", "ab"),
        ("a", "invoked", "a"),
    ],
)
async def test_short_suggestions_only_by_hand(start, text, trigger, suggested):
    editor = await start()
    editor.open(f"# say {text!r}<|>")
    assert await editor.suggestion(trigger=trigger) == suggested
    if suggested is None:
        assert editor.reason == "the suggestion is shorter than 2 characters (option minLength)"


async def test_what_is_left_of_a_suggestion_may_be_short(start):
    editor = await start()
    await shown(editor, "# say 'abcd'<|>")
    editor.type("abc")
    assert await editor.suggestion() == "d"


async def test_completing_while_typing_is_turned_on_and_off(editor):
    editor.open("x<|>")
    editor.session.set_automatic(False)
    assert await editor.suggestion() is None
    assert editor.reason == "automatic completion is off"
    assert await editor.suggestion(trigger="invoked")
    assert editor.statuses[-1].automatic is False
    editor.session.set_automatic(True)
    assert await editor.suggestion()


async def test_stale_answers_do_not_look_like_none(editor):
    editor.open("# slow<|>")
    asked = editor.ask()
    assert editor.statuses[-1].state == "thinking"
    editor.type("er")
    await editor.completer.result(asked)
    assert editor.statuses[-1].state == "idle"
    assert not editor.counted.reasons


async def test_statistics_as_json(editor):
    await shown(editor, SAY + "<|>")
    editor.type("re")
    await editor.suggestion()
    told = editor.counted.to_json()
    assert (told["requests"], told["shown"], told["typedThrough"]) == (2, 1, 1)
    assert {name: latency["count"] for name, latency in told["latencyMs"].items()} == {
        "model": 1,
        "reused": 1,
    }
    assert told["latencyMs"]["model"]["median"] >= 0


async def test_reasons_are_counted_up_to_a_limit(editor):
    for number in range(200):
        editor.counted.add_reason(str(number % 150))
    assert len(editor.counted.reasons) == 101
    assert editor.counted.reasons.total() == 200
