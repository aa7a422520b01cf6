"""The context is shared between the two sides of the cursor and other files."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.fim_format import find_format
from fimlsp.models.prompts.prompt import (
    Neighbour,
    Prompt,
    build_continuation,
    build_prompt,
    share,
    without_closers,
)
from fimlsp.models.prompts.vocabulary import read_vocabulary
from fimlsp.quotient.language.editor_policy import Comment

from .. import tiny_checkpoints as c
from ..tiny_checkpoints import DEEPSEEK, SANTACODER, byte_tokenizer

CASES = {
    (10, 3, 4): (3, 4),
    (10, 5, 5): (5, 5),
    (10, 30, 40): (5, 5),
    (11, 30, 40): (5, 5),
    (10, 2, 40): (2, 8),
    (10, 40, 2): (8, 2),
    (10, 0, 40): (0, 10),
    (10, 40, 5): (5, 5),
}


@pytest.mark.parametrize(("sizes", "expected"), CASES.items(), ids=str)
def test_shares(sizes, expected):
    assert share(*sizes) == expected


@given(st.integers(1, 500), st.integers(0, 600), st.integers(0, 600))
def test_shares_fit_and_waste_little(budget, before, after):
    kept_before, kept_after = share(budget, before, after)
    assert kept_before <= before
    assert kept_after <= after
    assert min(before + after, budget) - 1 <= kept_before + kept_after <= budget


def prompt(left, right, context=40, reserve=10, **options):
    tokenizer = byte_tokenizer(SANTACODER)
    fim = find_format(tokenizer.get_vocab(), "test", order="psm")
    vocabulary = read_vocabulary(tokenizer, fim.markers)
    built = build_prompt(vocabulary, fim, context, left, right, reserve, **options)
    ids = list(built.tokens)
    first, second, third = (part for part in fim.prompt if isinstance(part, int))
    after, middle = ids.index(second), ids.index(third)
    assert (ids[0], middle) == (first, len(ids) - 1)
    assert built.room == context - len(ids)
    return vocabulary.decode(ids[1:after]), vocabulary.decode(ids[after + 1 : middle]), built.room


def test_the_prompt_holds_both_sides_in_order():
    assert prompt(b"ab", b"cd") == (b"ab", b"cd", 33)


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (None, (b"abcdefgh", b"ijklmnop", 21)),
        (100, (b"abcdefgh", b"ijklmnop", 21)),
        (6, (b"fgh", b"ijk", 31)),
    ],
)
def test_a_model_may_read_fewer_tokens_than_fit(most, expected):
    assert prompt(b"abcdefgh", b"ijklmnop", most_tokens=most) == expected


def test_the_prefix_loses_its_beginning_and_the_suffix_its_end():
    left, right, room = prompt(b"0123456789" * 3, b"abcdefghij" * 3)
    assert (left, right, room) == (b"7890123456789"[-13:], b"abcdefghijabc", 11)
    assert prompt(b"ab", b"x" * 1000)[:2] == (b"ab", b"x" * 25)


def test_a_long_file_is_cut_between_characters():
    left, right, _ = prompt("é".encode() * 5000 + b"a", b"b" + "€".encode() * 5000)
    assert "é".encode() * 6 + b"a" == left[-13:]
    assert (b"b" + "€".encode() * 5)[:13] == right
    assert b"\xef\xbf\xbd" not in left + right


def test_a_reserve_larger_than_the_context_is_an_error():
    with pytest.raises(ModelError, match="do not fit"):
        prompt(b"a", b"b", context=40, reserve=37)


A, B = Neighbour("pkg/a.py", b"a = 1\n"), Neighbour("pkg/b.py", b"b = 2\n")
FILES_OF_PROJECT = "# Path: pkg/b.py\nb = 2\n\n# Path: pkg/a.py\na = 1\n\n# Path: pkg/c.py\n"
PROJECT = "<repo_name>project<file_sep>pkg/b.py\nb = 2\n<file_sep>pkg/a.py\na = 1\n<file_sep>"


def family_and_order(value):
    """The families of tiny checkpoints with the tokens *value*; other values name themselves."""
    return "-".join(name for name, (_, tokens) in c.FAMILIES.items() if tokens is value) or None


WITH_FILES = [
    (
        c.FIMLSP_WITH_FILES,
        None,
        "<|right|>right<|left|><|file|>pkg/b.py\nb = 2\n<|file|>pkg/a.py\na = 1\n<|file|>pkg/c.py\nleft",
    ),
    (c.SANTACODER, "psm", f"<fim-prefix>{FILES_OF_PROJECT}left<fim-suffix>right<fim-middle>"),
    (c.SANTACODER, "spm", f"<fim-prefix><fim-suffix>right<fim-middle>{FILES_OF_PROJECT}left"),
    (c.STARCODER2, "psm", f"{PROJECT}<fim_prefix>pkg/c.py\nleft<fim_suffix>right<fim_middle>"),
    (c.STARCODER2, "spm", f"{PROJECT}<fim_prefix><fim_suffix>right<fim_middle>pkg/c.py\nleft"),
    (
        c.DEEPSEEK,
        "psm",
        "<｜begin▁of▁sentence｜><｜fim▁begin｜>#pkg/b.py\nb = 2\n\n#pkg/a.py\na = 1\n\n#pkg/c.py\nleft"
        "<｜fim▁hole｜>right<｜fim▁end｜>",
    ),
    (
        c.GEMMA,
        "psm",
        "<bos>pkg/b.py\nb = 2\n<|file_separator|>pkg/a.py\na = 1\n<|file_separator|>pkg/c.py\n"
        "<|fim_prefix|>left<|fim_suffix|>right<|fim_middle|>",
    ),
    (
        c.QWEN,
        "psm",
        "<|repo_name|>project\n<|file_sep|>pkg/b.py\nb = 2\n\n<|file_sep|>pkg/a.py\na = 1\n\n"
        "<|file_sep|>pkg/c.py\n<|fim_prefix|>left<|fim_suffix|>right<|fim_middle|>",
    ),
    (c.FIMLSP, "spm", "<|right|>right<|left|>left"),
]


CODELLAMA = {
    "psm": ("<s>▁<PRE> left▁<SUF>right▁<MID>", "<s>▁<PRE>▁<SUF>right▁<MID>"),
    "spm": ("<s>▁<PRE>▁<SUF>right▁<MID> left", "<s>▁<PRE>▁<SUF>right▁<MID>"),
}


@pytest.mark.parametrize("order", CODELLAMA)
def test_only_the_prefix_of_codellama_begins_with_a_space(order):
    tokenizer = c.sentence_piece_tokenizer()
    fim = find_format(tokenizer.get_vocab(), "test", order=order)
    vocabulary = read_vocabulary(tokenizer, fim.markers)

    def shown(left, **options):
        built = build_prompt(vocabulary, fim, 200, left, b"right", 10, **options)
        texts = (vocabulary.token_bytes[n] or tokenizer.id_to_token(n).encode() for n in built.tokens)
        return b"".join(texts).decode()

    whole, without = CODELLAMA[order]
    assert shown(b"left") == whole
    assert shown(b"") == without
    assert "\nleft" in shown(b"left", neighbours=[A], path="b.py")


def shown_with_files(special, context=200, neighbours=(A, B), left=b"left", order=None, **options):
    tokenizer = byte_tokenizer(special)
    fim = find_format(tokenizer.get_vocab(), "test", order=order)
    vocabulary = read_vocabulary(tokenizer, fim.markers)
    built = build_prompt(vocabulary, fim, context, left, b"right", 10, neighbours, "pkg/c.py", **options)
    assert built.room == context - len(built.tokens) >= 10
    table = vocabulary.token_bytes
    return b"".join(table[token] or tokenizer.id_to_token(token).encode() for token in built.tokens).decode()


@pytest.mark.parametrize(("special", "order", "expected"), WITH_FILES, ids=family_and_order)
def test_other_files_stand_as_the_family_has_learnt_to_read_them(special, order, expected):
    assert shown_with_files(special, order=order) == expected


IN_OTHER_LANGUAGES = [
    (c.SANTACODER, Comment("--"), FILES_OF_PROJECT.replace("#", "--")),
    (c.SANTACODER, Comment("/*", "*/"), FILES_OF_PROJECT.replace("#", "/*").replace(".py", ".py */")),
    (c.SANTACODER, None, ""),
    (c.STARCODER2, None, PROJECT),
]


@pytest.mark.parametrize(("special", "comment", "expected"), IN_OTHER_LANGUAGES)
def test_names_of_files_are_remarks_of_their_language(special, comment, expected):
    shown = shown_with_files(special, order="psm", comment=comment)
    assert shown.replace("<fim-prefix>", "").startswith(expected or "left")


@pytest.mark.parametrize("special", [c.SANTACODER, c.STARCODER2, c.QWEN, c.FIMLSP])
def test_without_other_files_the_prompt_is_plain(special):
    shown = shown_with_files(special, neighbours=())
    assert "pkg" not in shown
    assert shown == shown_with_files(special, neighbours=[Neighbour("empty.py", b"")])


def test_other_files_get_a_quarter_of_the_budget_and_what_the_sides_leave():
    long = Neighbour("long.py", b"x" * 5000)
    shown = shown_with_files(c.STARCODER2, neighbours=[long, A])
    assert shown.startswith("<repo_name>project<file_sep>long.py\nxxx"), "the most important is kept"
    assert shown.endswith("x<file_sep><fim_prefix><fim_suffix>right<fim_middle>pkg/c.py\nleft")
    assert shown.count("x") > 100
    crowded = shown_with_files(c.STARCODER2, neighbours=[long], left=b"y" * 5000)
    assert "xx<file_sep><fim_prefix><fim_suffix>right<fim_middle>pkg/c.py\nyy" in crowded
    assert 3 * (crowded.count("x") + len("project long.py pkg/c.py")) < 200 < 3 * crowded.count("y")


@given(st.integers(30, 300), st.integers(0, 400), st.lists(st.integers(0, 300), max_size=3))
def test_prompts_with_files_fit(context, size, sizes):
    files = [Neighbour(f"{n}.py", b"x" * length) for n, length in enumerate(sizes)]
    for special in (c.SANTACODER, c.STARCODER2, c.GEMMA, c.QWEN):
        assert shown_with_files(special, context, files, b"y" * size)


def typed_prompts(left, right, n, **options):
    tokenizer = byte_tokenizer(c.SANTACODER)
    fim = find_format(tokenizer.get_vocab(), "test", order="spm")
    vocabulary = read_vocabulary(tokenizer, fim.markers)
    for typed in range(n):
        text = left + b"0123456789" * (typed // 10) + b"0123456789"[: typed % 10]
        yield build_prompt(vocabulary, fim, 200, text, right, 40, **options).tokens


TYPING = {
    "both sides are long": (b"x" * 5000, b"y" * 5000),
    "the left side is short": (b"x = ", b"y" * 5000),
    "the right side is short": (b"x" * 5000, b"y"),
    "the left side is longer than the encoded part": (b"xy" * 9000, b"y" * 300),
}


@pytest.mark.parametrize("case", TYPING)
def test_while_somebody_types_a_steady_prompt_mostly_grows_at_its_end(case):
    prompts = list(typed_prompts(*TYPING[case], 100, steady=True))
    kept = [after[: len(before)] == before for before, after in itertools.pairwise(prompts)]
    assert sum(kept) >= 80


def prefix_first(left, right, **options):
    tokenizer = byte_tokenizer(c.STARCODER)
    fim = find_format(tokenizer.get_vocab(), "test", order="psm")
    vocabulary = read_vocabulary(tokenizer, fim.markers)
    built = build_prompt(vocabulary, fim, 1000, left, right, 40, **options)
    names = {token: text.encode() for text, token in fim.marker_ids.items()}
    return b"".join(names.get(token) or vocabulary.decode([token]) for token in built.tokens)


P, S, M = b"<fim_prefix>", b"<fim_suffix>", b"<fim_middle>"
LONG = b"y" * 59 + b"\n"
STEADY = {  # left, right; the prompt
    "a short file": (b"a\nb", b"c\n", P + S + b"c\n" + M + b"a\nb"),
    "after eight lines": (b"1\n" * 8 + b"x", b"c\n", P + b"1\n" * 8 + S + b"c\n" + M + b"x"),
    "after eight lines and two": (b"1\n" * 10, b"c\n", P + b"1\n" * 8 + S + b"c\n" + M + b"1\n1\n"),
    "at the start of a line": (b"1\n" * 8, b"c\n", P + b"1\n" * 8 + S + b"c\n" + M),
    "a long suffix": (b"", b"c\n" * 100, P + S + b"c\n" * 65 + M),
    "a long line": (b"x" * 300, b"c", P + b"x" * 300 + S + b"c" + M),
    "long lines": (LONG * 7 + b"x", b"c", P + LONG * 4 + S + b"c" + M + LONG * 3 + b"x"),
}


@pytest.mark.parametrize("case", STEADY)
def test_a_steady_prompt_with_the_prefix_first_ends_with_the_last_lines(case):
    left, right, expected = STEADY[case]
    assert prefix_first(left, right, steady=True) == expected
    plain = prefix_first(left, right)
    assert plain == P + left + S + right + M


def test_typing_appends_to_a_steady_prompt_with_the_prefix_first():
    prompts = [prefix_first(b"l\n" * 20 + b"x" * n, b"r\n" * 90, steady=True) for n in range(40)]
    assert all(after.startswith(before) for before, after in itertools.pairwise(prompts))


@pytest.mark.parametrize("most_tokens", [200, 400, None])
def test_a_key_rarely_changes_the_start_of_a_steady_prompt(most_tokens):
    """In a file that does not fit, however few tokens a prompt has."""
    line, right = b"    total += price * 2\n", b"r\n" * 300
    typed = line * 12
    lefts = [b"l\n" * 300 + typed[:n] for n in range(len(typed))]
    prompts = [prefix_first(left, right, steady=True, most_tokens=most_tokens) for left in lefts]
    changes = sum(not after.startswith(before) for before, after in itertools.pairwise(prompts))
    assert changes <= 12, "one for each line, at most"


@given(st.integers(0, 400), st.integers(0, 400), st.booleans())
def test_steady_prompts_fit_and_lose_little(before, after, steady):
    (tokens,) = typed_prompts(b"x" * before, b"y" * after, 1, steady=steady)
    plain = min(before + after, 157)
    assert plain - (2 * (157 // 16) if steady else 1) <= len(tokens) - 3 <= plain


CLOSERS = {  # right; the part that is left out
    b")\nx": b")",
    b' ")  \nx': b' ")  ',
    b"]})\r\nx": b"]})",
    b")": b")",
    b"></": b"",
    b"\n)": b"",
    b"    \nx": b"    ",
    b"): x\n)": b"",
    b"): \n": b"",
    b"a)\n": b"",
    b") # )\n": b"",
    b"": b"",
}


@pytest.mark.parametrize("right", CLOSERS)
def test_only_closing_brackets_and_quotes_to_the_end_of_the_line_are_left_out(right):
    assert without_closers(right) == (CLOSERS[right], right[len(CLOSERS[right]) :])


LEFT_OUT = {b")": (b")", b" )", b"):", b")\n", b"),"), b"  '])\n"[:-1]: (b"'", b"']", b"'])", b"'])\n")}


@pytest.mark.parametrize("left_out", LEFT_OUT)
def test_a_text_repeats_the_part_that_was_left_out_if_both_start_alike(left_out):
    prompt = Prompt((), 0, left_out)
    assert all(prompt.repeats_left_out(text) for text in LEFT_OUT[left_out])
    assert not any(prompt.repeats_left_out(text) for text in (b"", b" ", None, b"]", b"a)", b"("))
    assert not Prompt((), 0, b" ").repeats_left_out(b")")


def continuation(family_markers, text, context=100, reserve=10):
    tokenizer = byte_tokenizer(family_markers)
    fim = find_format(tokenizer.get_vocab(with_added_tokens=True), "test")
    vocabulary = read_vocabulary(tokenizer, fim.markers)
    return fim, vocabulary, build_continuation(vocabulary, fim, context, text, reserve)


def test_a_prompt_from_left_to_right_has_no_markers():
    _, vocabulary, prompt = continuation(SANTACODER, b"x = 1\n")
    assert list(prompt.tokens) == vocabulary.encode("x = 1\n")
    assert prompt.room == 100 - len(prompt.tokens)


def test_a_prompt_from_left_to_right_is_never_empty():
    fim, _, prompt = continuation(SANTACODER, b"")
    assert prompt.tokens == (min(fim.stops),)


def test_a_prompt_from_left_to_right_begins_as_the_family_begins():
    fim, vocabulary, prompt = continuation(DEEPSEEK, b"x")
    begin = fim.marker_ids["<｜begin▁of▁sentence｜>"]
    assert list(prompt.tokens) == [begin, *vocabulary.encode("x")]


def test_a_prompt_from_left_to_right_loses_its_beginning():
    _, vocabulary, prompt = continuation(SANTACODER, b"abc" * 100, context=60, reserve=40)
    assert vocabulary.decode(prompt.tokens) == (b"abc" * 100)[-19:]
    with pytest.raises(ModelError, match="Cannot write 100 tokens: they do not fit into a context of 60"):
        continuation(SANTACODER, b"", context=60, reserve=100)
