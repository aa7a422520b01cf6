"""Writes docs/reference.md, the public names with their docstrings.

Run it as `python tests/architecture/reference_page.py`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

import fimlsp

PAGE = Path(__file__).parents[2] / "docs" / "reference.md"
HEAD = """# Reference of the public names

Generated from the docstrings by `python tests/architecture/reference_page.py`. [library.md](library.md) has
programs that use these names.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for name in fimlsp.__all__:
        parts += described(name, getattr(fimlsp, name))
    return "\n".join(parts)


def described(name: str, value: object) -> Iterator[str]:
    """The section of one public name."""
    shown = "" if is_protocol(value) else f"```python\n{signature(name, value)}\n```\n\n"
    yield f"## {name}\n\n{shown}{text(value)}\n"
    if inspect.isclass(value):
        for member, kind in members(value):
            yield f"### {name}.{member}\n\n```python\n{signature(member, kind)}\n```\n\n{text(kind)}\n"


def members(of: type) -> Iterator[tuple[str, object]]:
    """The public methods and properties that *of* defines itself, in their order there."""
    for name, member in vars(of).items():
        if name.startswith("_"):
            continue
        kinds = (property, cached_property, classmethod, staticmethod)
        if isinstance(member, kinds) or inspect.isfunction(member):
            yield name, member


def is_protocol(value: object) -> bool:
    """True for a protocol, of which there are no values."""
    return bool(getattr(value, "_is_protocol", False))


def signature(name: str, value: object) -> str:
    """The declaration of a name, one parameter a line where it is long."""
    function = (
        getattr(value, "fget", None) or getattr(value, "func", None) or getattr(value, "__func__", value)
    )
    if not callable(function):
        return f"{name}: {type(value).__name__}"
    of = inspect.signature(function)
    result = "" if inspect.isclass(value) else f" -> {of.return_annotation}"
    if isinstance(value, (property, cached_property)):
        return f"{name}: {of.return_annotation}"
    parameters = list(declared(of.parameters.values()))
    short = f"{name}({', '.join(parameters)}){result}"
    lines = "".join(f"    {parameter},\n" for parameter in parameters)
    return short if len(short) <= 100 else f"{name}(\n{lines}){result}"


def declared(parameters: Iterable[inspect.Parameter]) -> Iterator[str]:
    """Each parameter with its type and default, and the `*` before those that are named in calls."""
    before = None
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and before is not parameter.KEYWORD_ONLY:
            yield "*"
        before = parameter.kind
        typed = "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"
        default = parameter.default
        value = "..." if inspect.isfunction(default) else repr(default)
        yield parameter.name + typed + ("" if default is parameter.empty else f" = {value}")


def text(value: object) -> str:
    """The docstring as Markdown: sections such as *Raises* become lists."""
    docstring = inspect.getdoc(value) or ""
    lines = []
    for line in docstring.splitlines():
        heading = re.fullmatch(r"(Args|Returns|Raises|Yields|Attributes):", line)
        if heading:
            lines += [f"**{heading[1]}**", ""]
        elif re.match(r"    \w[\w., ]*: ", line):
            lines.append("- " + re.sub(r"^(\w[\w., ]*): ", r"`\1`: ", line.strip()))
        elif line.startswith("    "):
            lines.append("  " + line.strip())
        else:
            lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
