"""What the compiler has against patterns: names bound twice, and what can never be reached."""

from __future__ import annotations

from fimlsp.languages.python.compiler.rules.expressions import ExpressionRules
from fimlsp.languages.python.compiler.syntax import nodes
from fimlsp.languages.python.compiler.syntax.nodes import Name, Pattern, Span

Bound = dict[str, Span]


def visit_pattern(rules: ExpressionRules, pattern: Pattern, following: Span | None) -> None:
    """Visit the pattern of a `case`, which may not match everything if a case is *following* in the file."""
    _PatternRules(rules, following).visit(pattern, {}, may_match_all=following is None)


class _PatternRules:
    def __init__(self, rules: ExpressionRules, following: Span | None) -> None:
        self.rules = rules
        self.following = following

    def report(self, message: str, *spans: Span) -> None:
        self.rules.report(message, *map(self.rules.at, spans))

    def bind(self, name: Name, bound: Bound) -> None:
        if name.name in bound:
            self.report(f"multiple assignments to name '{name.name}' in pattern", bound[name.name], name.span)
        bound[name.name] = name.span
        self.rules.bind(name)

    def visit(self, pattern: Pattern, bound: Bound, *, may_match_all: bool = True) -> None:
        """Add what *pattern* binds to *bound*."""
        if isinstance(pattern, nodes.Capture):
            if not may_match_all:
                what = "wildcard" if pattern.name is None else f"name capture '{pattern.name.name}'"
                following = () if self.following is None else (self.following,)
                span = self.rules.at(pattern.span)
                self.rules.report(f"{what} makes remaining patterns unreachable", span, *following)
            if pattern.name is not None:
                self.bind(pattern.name, bound)
        elif isinstance(pattern, nodes.Literal):
            self.rules.visit(pattern.parts)
        elif isinstance(pattern, nodes.Alias):
            self.visit(pattern.pattern, bound, may_match_all=may_match_all)
            self.bind(pattern.name, bound)
        elif isinstance(pattern, nodes.Alternatives):
            self.alternatives(pattern, bound, may_match_all=may_match_all)
        elif isinstance(pattern, nodes.Sequence):
            self.sequence(pattern, bound)
        elif isinstance(pattern, nodes.StarPattern):
            if pattern.name is not None:
                self.bind(pattern.name, bound)
        elif isinstance(pattern, nodes.Mapping):
            self.mapping(pattern, bound)
        else:
            self.of_class(pattern, bound)

    def alternatives(self, pattern: nodes.Alternatives, bound: Bound, *, may_match_all: bool) -> None:
        first: Bound | None = None
        last = len(pattern.patterns) - 1
        for number, alternative in enumerate(pattern.patterns):
            own: Bound = {}
            self.visit(alternative, own, may_match_all=may_match_all and number == last)
            if first is not None and own.keys() != first.keys():
                others = [own[name][1] for name in own.keys() - first.keys()]
                span = self.rules.at((pattern.start, min([*others, pattern.ends[number]])))
                missing = ",".join(sorted(first.keys() - own.keys())).encode()
                self.rules.report(
                    "alternative patterns bind different names", span, goes_on=missing and b"[%s]" % missing
                )
            first = own if first is None else first
        for name, span in (first or {}).items():
            if name in bound:
                self.report(f"multiple assignments to name '{name}' in pattern", bound[name], span)
            bound[name] = span

    def sequence(self, pattern: nodes.Sequence, bound: Bound) -> None:
        stars = [part.span for part in pattern.elements if isinstance(part, nodes.StarPattern)]
        if len(stars) > 1:
            self.report("multiple starred expressions in sequence pattern", stars[0], stars[1])
        for element in pattern.elements:
            self.visit(element, bound)

    def mapping(self, pattern: nodes.Mapping, bound: Bound) -> None:
        seen: dict[object, Span] = {}
        for key in pattern.keys:
            self.rules.visit(key.parts)
            if isinstance(key.parts, nodes.Constant):
                if key.value in seen:
                    self.report("mapping pattern checks duplicate key", seen[key.value], key.span)
                seen[key.value] = key.span
        for part in pattern.values:
            self.visit(part, bound)
        if pattern.rest is not None:
            self.bind(pattern.rest, bound)

    def of_class(self, pattern: nodes.ClassPattern, bound: Bound) -> None:
        self.rules.visit(pattern.of)
        seen: Bound = {}
        for name in pattern.names:
            if name.name in seen:
                self.report(
                    f"attribute name repeated in class pattern: {name.name}", seen[name.name], name.span
                )
            seen[name.name] = name.span
            self.rules.not_debug(name, self.rules.at(name.span))
        for part in (*pattern.positional, *pattern.named):
            self.visit(part, bound)
