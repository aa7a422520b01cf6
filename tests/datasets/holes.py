"""Files with a marked hole, and models that write by a table, for the tests of this package."""

import math
from dataclasses import replace
from functools import cache

from fimlsp.datasets.cuts import Cut, CutRecord
from fimlsp.datasets.sources import SourceFile
from fimlsp.models.loading import load_model
from fimlsp.models.protocols import Candidates

END = b"<end>"


def parse_hole(marked):
    """`left<|truth|>right` as a file and the record of its cut."""
    left, _, rest = marked.partition("<|")
    truth, _, right = rest.partition("|>")
    file = SourceFile.of("marked.py", left + truth + right)
    return file, CutRecord("line", file.hash, file.name, 0, 0, Cut(len(left), len(left) + len(truth)))


class Writer:
    """`NextToken`: after each text it proposes the listed ones (best first), or else its end."""

    stops = frozenset({0})

    def __init__(self, table):
        texts = {text for proposals in table.values() for text in proposals} - {END}
        self.token_bytes = [None, *sorted(texts)]
        self.table = table
        self.written = b""
        self.steps = 0

    def begin(self, _tokens, written=()):
        self.written = b"".join(self.token_bytes[token] for token in written)
        return self.candidates()

    def advance(self, token):
        self.written += self.token_bytes[token]
        return self.candidates()

    def candidates(self):
        self.steps += 1
        proposals = self.table.get(self.written, [END])
        ids = [0 if text == END else self.token_bytes.index(text) for text in proposals]
        ranks = {token: math.log(0.5 ** (rank + 1)) for rank, token in enumerate(ids)}
        return Candidates(list(ranks), list(ranks.values()), ranks.get(0, -10.0))


@cache
def bundled():
    return load_model()


def written_by(table):
    """A model that writes by *table*."""
    return replace(bundled(), network=Writer(table), uses_buffer=False)


def straight(*pieces):
    """The table of a model that writes *pieces* and ends."""
    return {b"".join(pieces[:n]): [piece] for n, piece in enumerate(pieces)}
