"""Parses the logical lines of a valid file: simple statements, and the headers of compound ones."""

from __future__ import annotations

from collections.abc import Callable

from fimlsp.languages.python.compiler.syntax.expressions import Reader
from fimlsp.languages.python.compiler.syntax.nodes import Expression, Name, Span
from fimlsp.languages.python.compiler.syntax.patterns import case_pattern
from fimlsp.languages.python.compiler.syntax.statements import (
    Annotation,
    Assignment,
    Augmentation,
    Bare,
    Case,
    Class,
    Condition,
    Declaration,
    Decorator,
    Deletion,
    Evaluation,
    Function,
    Handler,
    Head,
    Import,
    Loop,
    ParsedLine,
    Return,
    Simple,
    TypeAlias,
    TypeParameter,
    With,
)
from fimlsp.languages.python.compiler.syntax.tokens import Token

_AUGMENTED = frozenset(b"+= -= *= /= //= %= @= &= |= ^= <<= >>= **=".split())
_KEYWORDS = frozenset(b"if elif while else try finally for with except def class async @".split())


def parse_line(tokens: list[Token], *, may_be_case: bool) -> ParsedLine:
    """The logical line of *tokens*, in which `case` may begin a part of a `match`."""
    reader = Reader(tokens)
    word = reader.text
    if word in _KEYWORDS:
        head = _head(reader)
    elif word == b"match" and _is_match(tokens):
        reader.take()
        head = Condition(reader.listed())
        reader.take()
    elif word == b"case" and may_be_case:
        reader.take()
        pattern = case_pattern(reader)
        guard = reader.named() if reader.passes(b"if") else None
        head = Case(pattern, guard, (tokens[0].start, tokens[0].end))
        reader.take()
    else:
        only = all(token.kind in ("string", "end") or token.text in b"()" for token in tokens)
        return ParsedLine(word, None, _statements(reader), only)
    return ParsedLine(word, head, _statements(reader))


def _is_match(tokens: list[Token]) -> bool:
    """Whether a line that begins with `match` is the head of a statement."""
    return len(tokens) > 3 and tokens[-2].text == b":"


def _statements(reader: Reader) -> tuple[Simple, ...]:
    found: list[Simple] = []
    while not reader.ended:
        found.append(_simple(reader))
        reader.passes(b";")
    return tuple(found)


def _simple(reader: Reader) -> Simple:
    token = reader.tokens[reader.at]
    make = _SIMPLE.get(token.text)
    if make is not None:
        reader.take()
        return make(reader, (token.start, token.end))
    if token.text == b"lazy" and reader.following in _IMPORTS:
        reader.take()
        word = reader.take()
        found = _IMPORTS[word.text](reader, (word.start, word.end))
        return found._replace(lazy=(token.start, token.end))
    if token.text == b"type" and reader.tokens[reader.at + 1].kind == "name" and _is_alias(reader):
        reader.take()
        name = reader.name()
        parameters = _type_parameters(reader)
        reader.take()
        return TypeAlias(name, parameters, reader.expression())
    return _expression_statement(reader)


def _is_alias(reader: Reader) -> bool:
    return reader.tokens[reader.at + 1].text not in (b"in", b"is", b"not", b"and", b"or", b"if")


def _expression_statement(reader: Reader) -> Simple:
    first = reader.yielded()
    if reader.text == b"=":
        found, signs = [first], []
        while reader.text == b"=":
            sign = reader.take()
            signs.append((sign.start, sign.end))
            found.append(reader.yielded())
        return Assignment(tuple(found[:-1]), found[-1], tuple(signs))
    if reader.text in _AUGMENTED:
        sign = reader.take()
        return Augmentation(first, reader.yielded(), (sign.start, sign.end))
    if reader.text == b":":
        colon = reader.take().start
        annotation = reader.expression()
        behind = reader.place
        value = reader.yielded() if reader.passes(b"=") else None
        return Annotation(first, annotation, value, colon, behind)
    return Evaluation((first,), reader.place)


def _return(reader: Reader, span: Span) -> Simple:
    if _ends(reader):
        return Return(None, span)
    value = reader.place
    return Return(reader.listed(), (span[0], value))


def _ends(reader: Reader) -> bool:
    return reader.ended or reader.text == b";"


def _evaluation(reader: Reader, _span: Span) -> Simple:
    """`raise`, `assert`, and words that stand alone."""
    parts: list[Expression] = []
    while not _ends(reader):
        if not (reader.passes(b",") or reader.passes(b"from")):
            parts.append(reader.expression())
    return Evaluation(tuple(parts))


def _deletion(reader: Reader, _span: Span) -> Simple:
    return Deletion(reader.listed())


def _import(reader: Reader, span: Span) -> Import:
    bound: list[Name] = []
    packages: list[Name] = []
    while not _ends(reader):
        name = reader.name()
        has_members = reader.text == b"."
        while reader.passes(b"."):
            reader.take()
        if reader.passes(b"as"):
            bound.append(reader.name())
        else:
            bound.append(_until_known(reader, name))
            packages += bound[-1:] if has_members else []
        reader.passes(b",")
    return Import(tuple(bound), (), False, False, span, packages=tuple(packages))


def _until_known(reader: Reader, name: Name) -> Name:
    """*name* with the blanks behind it: only what comes then tells that it gets no other name."""
    return name._replace(span=(name.span[0], reader.place))


def _from_import(reader: Reader, span: Span) -> Import:
    module: list[bytes] = []
    while reader.text != b"import":
        token = reader.take()
        module.append(token.text)
        span = span[0], token.end
    reader.take()
    relative = module[0] in (b".", b"...")
    is_future = [part for part in module if part not in (b".", b"...")] == [b"__future__"]
    names: list[Name] = []
    bound: list[Name] = []
    if reader.text == b"*":
        token = reader.take()
        star = Name("*", (token.start, token.end))
        return Import((), (star,), is_future, True, span, relative)
    while not _ends(reader):
        if reader.text in b"(),":
            reader.take()
            continue
        names.append(reader.name())
        bound.append(reader.name() if reader.passes(b"as") else _until_known(reader, names[-1]))
    return Import(tuple(bound), tuple(names), is_future, False, span, relative)


def _declaration(reader: Reader, span: Span) -> Simple:
    is_global = span[1] - span[0] == len(b"global")
    names = [reader.name()]
    while reader.passes(b","):
        names.append(reader.name())
    return Declaration(is_global, tuple(names), span)


_IMPORTS = {b"import": _import, b"from": _from_import}
_SIMPLE: dict[bytes, Callable[[Reader, Span], Simple]] = {
    b"return": _return,
    b"raise": _evaluation,
    b"assert": _evaluation,
    b"pass": _evaluation,
    b"break": _evaluation,
    b"continue": _evaluation,
    b"del": _deletion,
    **_IMPORTS,
    b"global": _declaration,
    b"nonlocal": _declaration,
}


def _head(reader: Reader) -> Head:
    asynchronous = reader.passes(b"async")
    word = reader.take().text
    found: Head
    if word in (b"if", b"elif", b"while"):
        found = Condition(reader.named())
    elif word == b"@":
        return Decorator(reader.named())
    elif word == b"for":
        target = reader.targets()
        reader.take()
        found = Loop(target, reader.listed())
    elif word == b"with":
        found = With(_with_items(reader))
    elif word == b"except":
        found = _handler(reader)
    elif word == b"def":
        found = _function(reader, asynchronous=asynchronous)
    elif word == b"class":
        found = _class(reader)
    else:
        found = Bare()
    reader.take()
    return found


def _handler(reader: Reader) -> Handler:
    reader.passes(b"*")
    of = None if reader.text == b":" else reader.listed()
    return Handler(of, reader.name() if reader.passes(b"as") else None)


def _with_items(reader: Reader) -> tuple[tuple[Expression, Expression | None], ...]:
    start = reader.at
    if reader.text == b"(":
        found = _bracketed_items(reader)
        if found is not None:
            return found
        reader.at = start
    return _items(reader, b":")


def _bracketed_items(reader: Reader) -> tuple[tuple[Expression, Expression | None], ...] | None:
    """The items of a `with` in parentheses; None if the parentheses belong to an expression."""
    depth = 0
    named = False
    for place in range(reader.at, len(reader.tokens)):
        text = reader.tokens[place].text
        depth += (text in (b"(", b"[", b"{")) - (text in (b")", b"]", b"}"))
        named |= depth == 1 and text == b"as"
        if not depth:
            break
    if not named or reader.tokens[place + 1].text != b":":
        return None
    reader.take()
    found = _items(reader, b")")
    reader.take()
    return found


def _items(reader: Reader, end: bytes) -> tuple[tuple[Expression, Expression | None], ...]:
    found: list[tuple[Expression, Expression | None]] = []
    while reader.text != end:
        value = reader.expression()
        found.append((value, reader.target() if reader.passes(b"as") else None))
        reader.passes(b",")
    return tuple(found)


def _type_parameters(reader: Reader) -> tuple[TypeParameter, ...]:
    found: list[TypeParameter] = []
    if not reader.passes(b"["):
        return ()
    while not reader.passes(b"]"):
        if reader.text in (b",", b"*", b"**"):
            reader.take()
            continue
        name = reader.name()
        bound = reader.expression() if reader.passes(b":") else None
        behind = reader.place
        found.append(TypeParameter(name, bound, reader.element() if reader.passes(b"=") else None, behind))
    return tuple(found)


def _function(reader: Reader, *, asynchronous: bool) -> Function:
    name = reader.name()
    type_parameters = _type_parameters(reader)
    reader.take()
    parameters = reader.parameters(b")", annotated=True)
    reader.take()
    returns = reader.expression() if reader.passes(b"->") else None
    return Function(asynchronous, name, type_parameters, parameters, returns)


def _class(reader: Reader) -> Class:
    name = reader.name()
    type_parameters = _type_parameters(reader)
    bases = reader.call(name) if reader.passes(b"(") else None
    return Class(name, type_parameters, bases)
