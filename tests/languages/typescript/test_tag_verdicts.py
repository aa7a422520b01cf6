"""Early verdicts on closing names: masks and refusals are those of a check without them."""

import random

import numpy as np
import pytest

from fimlsp import Engine, Vocabulary
from fimlsp.languages.typescript import jsx, tsx
from fimlsp.languages.typescript.tag_names import TagNames
from fimlsp.quotient.language.contract import Verdict
from fimlsp.quotient.states.checked_state import CheckedState

ENGINES = {"tsx": Engine(tsx), "jsx": Engine(jsx)}
WORDS = """
    < </ > /> / { } ( ) ; . : - = */ /* ` " a A ab b B x d di div iv v div> div></ ></ a> b> a></b>
    </a </a> </b </div </> <> <b> <b></ <b></a <a/> A.B .B .C :b :c é é> a{ {x}</ x</a {</ div/**/>
    a></a></ b></a></ b></x></ </A.B </A.C </a:b </a-b /**/ x='</a'
"""
PIECES = (*WORDS.split(), " ", "\n", "div\n>", "div >", "x\n</a", "\u00a0", "\u00a0>", "a\u00a0")
TOKENS = [*(piece.encode() for piece in PIECES), b"\xc3", b"\xa9", b"\xc2", b"\xa0", b"\xc2\xa0>"]
CURSORS = (
    "x = <div></<|>",
    "x = <div></d<|>",
    "x = <div></div<|>",
    "x = <div></<|>>",
    "x = <div></<|>div>",
    "x = <div></<|>iv>;\n",
    "x = <a><b></<|></a>",
    "x = <a><b></<|></b></a>",
    "x = <a>\n  <b>\n  </<|>\n</a>;\ny = 1\n",
    "x = <a><b></b></<|>",
    "x = <a>text <|></a>",
    "x = <a>text <|>",
    "x = <A.B></<|>",
    "x = <A.B></A<|>",
    "x = <A></A<|>",
    "x = <A.B></A.<|>",
    "x = <a:b></a<|>",
    "x = <a-b></a<|>",
    "x = <></<|>",
    "x = <a><></<|></a>",
    "x = <><a></<|></>",
    "x = <a>{y && <b></<|>}</a>",
    "x = <a>{`${<b></<|>}`}</a>",
    "x = <a>{y /* <b></<|> */}</a>",
    "x = <a>{'<b></<|>'}</a>",
    "x = <a>{`<b></<|>`}</a>",
    "x = <é></<|>",
    "x = <éa></é<|>",
    "x = <a></a<|>\u00a0>",
    "x = <a><b/></<|>",
    "x = <a t={<b></<|>}></a>",
    "x = <a></b><c></<|>",
    "x = <a></b<|>",
    "x = <<|>></a>",
    "x = <a>{/* \n <b></<|>\n */}</a>",
    "x = <a></<|> §§\n",
    "x = <a></<|>}>\n",
    "x = <a>{/* \n <b>\n</b>\n</<|>",
    "x = <a <|>></a>",
    "x = <a>\n<|>\n</b>",
)
OPTIONS = [{"relax": relax, "may_escape": free} for relax in (False, True) for free in (False, True)]


def states(name, rng, cursors):
    """States at the cursors, and some that random tokens lead to."""
    for cursor in cursors:
        left, right = (part.encode() for part in cursor.split("<|>"))
        for options in OPTIONS:
            state = ENGINES[name].document(left + right).middle(len(left), len(left), **options).start
            for _ in range(4):
                if state is None:
                    break
                yield cursor, state
                following = (state.feed(token) for token in rng.sample(TOKENS, len(TOKENS)))
                state = next((reached for reached in following if reached is not None), None)


def fed(state):
    return [state.feed(token) is not None for token in TOKENS]


@pytest.mark.parametrize(
    ("name", "cursors"),
    [
        ("tsx", (*CURSORS[::6], CURSORS[-1])),
        *(pytest.param(name, CURSORS, marks=pytest.mark.slow) for name in ENGINES),
    ],
    ids=["tsx", "every tsx", "every jsx"],
)
def test_masks_and_refusals_are_those_of_the_whole_check(name, cursors, monkeypatch):
    verdicts, early = [], TagNames.verdict
    vocabulary, found = Vocabulary(TOKENS), list(states(name, random.Random(name), cursors))

    def recorded(*arguments):
        verdicts.append(early(*arguments))
        return verdicts[-1]

    monkeypatch.setattr(TagNames, "verdict", recorded)
    masks = [state.mask(vocabulary) for _, state in found]
    allowed = [fed(state) for _, state in found]
    monkeypatch.setattr(TagNames, "verdict", lambda *_: Verdict.UNKNOWN)
    wrong = []
    for (cursor, state), mask, tokens in zip(found, masks, allowed, strict=True):
        bits = np.unpackbits(mask.view(np.uint8), bitorder="little")[: len(TOKENS)].astype(bool).tolist()
        whole = fed(state)
        wrong += [
            (cursor, state.text, token, *answers)
            for token, *answers in zip(TOKENS, bits, tokens, whole, strict=True)
            if len(set(answers)) > 1
        ]
    assert wrong == []
    assert set(verdicts) == set(Verdict)
    assert len(found) > 7 * len(cursors)


def test_names_in_a_mask_need_no_completion(monkeypatch):
    left = b"x = <div>\n  <p></"
    start = ENGINES["tsx"].document(left).middle(len(left), len(left)).start
    read = []
    faults = TagNames.faults
    monkeypatch.setattr(TagNames, "faults", lambda check, data: read.append(data) or faults(check, data))
    vocabulary = Vocabulary([b"p", b"q", b"pq", b"div", b"p>", b"q>", b"A.b", b"a:b"])
    allowed = start.allowed_texts(vocabulary).tolist()
    assert {text for text, may_come in zip(vocabulary.texts, allowed, strict=False) if may_come} == {
        b"p",
        b"p>",
    }
    assert read == []


@pytest.mark.parametrize(
    ("cursor", "most"),
    [("x = <div <|>></div>;\n", 0), ("x = <a><p>b</p> text <|></a>;\n", 0), ("x = <a><b></b<|></a>;\n", 2)],
)
def test_texts_far_from_closing_names_are_not_fed(cursor, most, monkeypatch):
    left, right = (part.encode() for part in cursor.split("<|>"))
    start = ENGINES["tsx"].document(left + right).middle(len(left), len(left)).start
    vocabulary = Vocabulary([b"a", b"a b", b"a=", b"a='b' c", b" {", b".c", b"\xc3", b"\xce\xb1", b"\xe4"])
    fed = []
    feed = CheckedState.feed
    monkeypatch.setattr(CheckedState, "feed", lambda state, data: fed.append(data) or feed(state, data))
    allowed = start.allowed_texts(vocabulary).tolist()
    assert len(fed) <= most
    assert allowed[:-1] == [start.feed(text) is not None for text in vocabulary.texts]
