"""CPython's verdict on the bytes of a file.

The engine reads text. So bytes that are not UTF-8 are invalid, even in a comment, which some versions skip. A
comment that declares an encoding is a plain comment, since it concerns bytes on a disk. A CR LF at the end
counts as in a file: for a string, versions up to 3.11 add another line end.

Runs in every interpreter from 3.8 on, also as a program. It then reads texts from its pipe, each after its
length as four bytes, and answers each with one line of JSON.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import warnings
from collections.abc import Sequence
from typing import NamedTuple

try:
    import resource
except ImportError:  # WebAssembly
    resource = None

VALID, INVALID, LIMIT = "valid", "invalid", "limit"
_LENGTH = 4
_MOST_SECONDS = 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DECLARATION = re.compile(rb"\A[^\r\n]*(?:(?:\r\n?|\n)[^\r\n]*)?#[^\r\n]*coding[:=]")


class Verdict(NamedTuple):
    """The parser's answer: `VALID`, `INVALID` with its message, or `LIMIT` if its own resources end."""

    kind: str
    message: str = ""


def tree_of(data: bytes) -> ast.Module:
    """The syntax tree of *data*, read as UTF-8 whatever a comment in it declares."""
    return ast.parse(source_of(data))


def source_of(data: bytes) -> str | bytes:
    """*data* in a form in which a parser reads it as UTF-8, whatever a comment in it declares."""
    marked = data.startswith(_BYTE_ORDER_MARK)
    text = data[len(_BYTE_ORDER_MARK) if marked else 0 :].decode()
    if data.endswith(b"\r\n") and not data.endswith(b"\r\r\n"):
        text, data = text[:-2] + "\n", data[:-2] + b"\n"
    return text if _DECLARATION.search(data) else data


def verdicts(texts: Sequence[bytes]) -> list[Verdict]:
    """The verdict on each of *texts*."""
    return [verdict(data) for data in texts]


def compile_verdict(data: bytes) -> Verdict:
    """The verdict of the running interpreter's compiler on *data*."""
    return verdict(data, compiles=True)


def verdict(data: bytes, *, compiles: bool = False) -> Verdict:
    """The verdict of the running interpreter's parser on *data*, or with *compiles* of its compiler."""
    if b"\0" in data:
        return Verdict(LIMIT, "NUL")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if compiles:
                compile(source_of(data), "case", "exec", dont_inherit=True)
            else:
                tree_of(data)
    except (RecursionError, MemoryError, SystemError) as error:
        return Verdict(LIMIT, type(error).__name__)
    except (SyntaxError, ValueError) as error:
        if "too complex" in str(error) or "recursion" in str(error):
            return Verdict(LIMIT, str(error))
        return Verdict(INVALID, error.msg if isinstance(error, SyntaxError) else str(error))
    return Verdict(VALID)


def _limit_time() -> None:
    """End this process if the next text takes too long: Python 3.8 never returns from some."""
    if resource is None:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + _MOST_SECONDS, hard))


def main() -> None:
    """Answer until the input ends."""
    answer = compile_verdict if "compile" in sys.argv else verdict
    while length := sys.stdin.buffer.read(_LENGTH):
        _limit_time()
        data = sys.stdin.buffer.read(int.from_bytes(length, "big"))
        sys.stdout.write(json.dumps(answer(data)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
