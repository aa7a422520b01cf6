"""From texts around a cursor to a middle: the prompt of the network, and the lines that it may write."""

import pytest

from fimlsp.models.completion import complete_many
from fimlsp.models.confidence import ConfidenceEstimate, Regression
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.loading import BUNDLED, FimModel
from fimlsp.models.prompts.fim_format import find_format
from fimlsp.models.prompts.vocabulary import read_vocabulary
from fimlsp.models.protocols import Candidates

from .scripted import Brackets
from .tiny_checkpoints import FIMLSP, byte_tokenizer

TOKENIZER = byte_tokenizer(FIMLSP)
FIM = find_format(TOKENIZER.get_vocab(), "test")
VOCABULARY = read_vocabulary(TOKENIZER, FIM.markers)
ESTIMATE = ConfidenceEstimate(Regression(0.0, {}), Regression(0.0, {}), 0, 0)


class Reciter:
    """A network that writes one text, byte for byte, and then stops."""

    token_bytes = VOCABULARY.token_bytes
    stops = FIM.stops

    def __init__(self, text):
        self.tokens = [*(VOCABULARY.token_bytes.index(bytes([byte])) for byte in text), 0]
        self.prompt = None

    def begin(self, tokens, _written=()):
        self.prompt = list(tokens)
        return self.advance(None)

    def advance(self, _token):
        best = self.tokens.pop(0)
        others = [token for token in (4, 5) if token != best]
        return Candidates([best, *others], [-0.1, -3.0, -4.0][: 1 + len(others)], -0.1 if best == 0 else -9.0)


def model_of(text, *, uses_buffer=False):
    return FimModel("test", Reciter(text), VOCABULARY, FIM, 200, "cpu", uses_buffer, ESTIMATE, BUNDLED)


def completion(text, left, right, **options):
    model = model_of(text)
    (middle,) = complete_many(model, left, right, Brackets(), DecodeSettings(**options), lambda: False)
    return middle.text, model.network.prompt


def test_the_prompt_is_right_then_left():
    _, prompt = completion(b"x", b"left", b"right")
    pieces = [TOKENIZER.id_to_token(token) for token in prompt]
    assert "".join(pieces) == "<|right|>right<|left|>left"


LINES = [
    (b"\nz", 1, b"a"),
    (b"  \nz", 1, b"a"),
    (b"", 1, b"a"),
    (b" z", 1, b"a"),
    (b"\nz", 2, b"a\nb"),
    (b" z", 2, b"a\nb"),
]


@pytest.mark.parametrize(("right", "lines", "expected"), LINES)
def test_lines(right, lines, expected):
    assert completion(b"a\nb", b"", right, lines=lines)[0] == expected


def test_a_line_end_is_not_decoded_before_text_in_the_line():
    assert completion(b":\n;", b"", b"\nz")[0] == b":\n;"
    assert b"\n" not in completion(b":\n;", b"", b" z")[0]


def test_what_stands_behind_the_cursor_in_its_line_ends_the_middle():
    assert completion(b"a)b", b"f(", b")\n")[0] == b"a"
    assert completion(b"a)b", b"f(", b"\n)")[0] != b"a"


def test_the_buffer_is_heard_where_it_is_wanted():
    left = b"some_name = 1\nsom"
    (heard,) = complete_many(
        model_of(b"???", uses_buffer=True), left, b"", Brackets(), DecodeSettings(tokens=3), lambda: False
    )
    assert b"?" in heard.text
    assert completion(b"???", left, b"")[0] == b"???"
