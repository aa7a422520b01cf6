"""Languages of JSON Schemas, against the package `jsonschema` on random instances, mutants and middles."""

import datetime
import json
import random
import re
from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
import regex
from jsonschema import Draft202012Validator, FormatChecker, ValidationError
from jsonschema.validators import extend

from fimlsp import Engine, Vocabulary, json_schema
from fimlsp.quotient.grammar.cfg import GrammarError

from ...sampling import sampled

PERSON = {
    "type": "object",
    "properties": {
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "kid": {"$ref": "#"},
        "name": {"type": "string", "minLength": 1, "maxLength": 3},
    },
    "required": ["name"],
    "additionalProperties": False,
}
TREE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"a": {"type": "array", "items": {"$ref": "#/$defs/node"}}, "b": {"const": 1}},
            "required": ["b"],
        }
    },
}
TAGGED = {
    "oneOf": [
        {
            "properties": {"a": {"const": "x"}, "b": {"type": "null"}},
            "required": ["a", "b"],
            "type": "object",
        },
        {"properties": {"a": {"const": "y"}, "b": {"type": "boolean"}}, "required": ["a"], "type": "object"},
        {"type": ["integer", "null"]},
    ]
}
SCHEMAS = {
    "person": PERSON,
    "tree": TREE,
    "tagged": TAGGED,
    "all": True,
    "types": {"type": ["string", "null", "boolean"]},
    "no type": {"minLength": 2, "minItems": 1, "required": ["a"], "minimum": 3},
    "extras": {"properties": {"a": {"type": "null"}}, "additionalProperties": {"type": "integer"}},
    "extras required": {"required": ["b", "c"], "additionalProperties": {"enum": [1, "x"]}},
    "tuple": {
        "prefixItems": [{"type": "string"}, {"type": "integer"}],
        "items": {"type": "null"},
        "minItems": 1,
    },
    "closed tuple": {"type": "array", "prefixItems": [True, {"const": 1}], "items": False},
    "pattern properties": {
        "type": "object",
        "properties": {"a": {"minimum": 0}, "b": True},
        "patternProperties": {"^a": {"type": "integer"}, "[ab]$": {"maximum": 2}},
        "additionalProperties": {"type": "string"},
    },
    "only pattern properties": {
        "patternProperties": {"e": True, "^.$": {"type": ["integer", "null"]}, "c": False},
        "additionalProperties": False,
        "required": ["a"],
    },
    "pattern properties together": {
        "allOf": [
            {"patternProperties": {"^a": {"type": "integer"}}, "required": ["a"]},
            {"patternProperties": {"^a": {"minimum": 1}, "e$": {"maximum": 100}}, "type": "object"},
        ],
    },
    "items": {"type": "array", "items": {"enum": ["a", "b", 1, None]}, "minItems": 2, "maxItems": 3},
    "no items": {"type": "array", "maxItems": 0},
    "different": {
        "type": "array",
        "items": {"enum": ["a", 1, 1.0, True, None, [1], [True]]},
        "uniqueItems": True,
    },
    "one different": {"type": ["array", "null"], "uniqueItems": True, "maxItems": 1},
    "different numbers": {
        "items": {"type": "integer", "minimum": 0, "exclusiveMaximum": 4},
        "type": "array",
        "uniqueItems": True,
    },
    "different places": {
        "prefixItems": [{"type": "string"}, {"type": ["boolean", "null"]}, {"type": "object"}],
        "items": {"anyOf": [{"type": "boolean"}, {"enum": [1, 2, None]}]},
        "type": "array",
        "uniqueItems": True,
    },
    "different and sought": {
        "items": {"enum": [0, 1, 2, 3, 12, "a", "b", True, None]},
        "contains": {"type": "integer"},
        "minItems": 2,
        "maxItems": 3,
        "type": "array",
        "uniqueItems": True,
    },
    "enum": {"enum": ["a", 1, 2.5, None, True, [1, {"a": "b"}], {"a": 1, "b": []}]},
    "enum of a type": {"enum": ["a", 1, 2.5, "b"], "type": ["integer", "string"]},
    "any of": {
        "anyOf": [{"type": "integer"}, {"minimum": 2, "type": "number"}, {"pattern": "^a", "type": "string"}]
    },
    "any of with more": {"type": "string", "maxLength": 2, "anyOf": [{"pattern": "a"}, {"minLength": 2}]},
    "any of what is required": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    },
    "all of": {
        "allOf": [
            {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"properties": {"a": {"minimum": 2}, "b": {"type": "string"}}, "type": "object"},
        ]
    },
    "all of itself": {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/x"}},
        "allOf": [{"properties": {"a": {"$ref": "#"}}}],
        "$defs": {"x": {"properties": {"a": {"$ref": "#/$defs/x"}, "b": {"type": "integer"}}}},
    },
    "reference with more": {
        "$ref": "#/$defs/x",
        "maximum": 2,
        "$defs": {"x": {"type": "number", "minimum": -1}},
    },
    "bounds": {"type": "number", "minimum": -2.5, "exclusiveMaximum": 10.25},
    "upper bound": {"type": "number", "maximum": -0.5},
    "exclusive": {"type": "integer", "exclusiveMinimum": -12, "exclusiveMaximum": 101},
    "of zero": {"type": "number", "exclusiveMinimum": 0},
    "length": {"type": "string", "minLength": 1, "maxLength": 2},
    "date": {"type": "string", "format": "date"},
    "date-time": {"type": "string", "format": "date-time"},
    "uuid": {"type": "string", "format": "uuid"},
    "remarks": {
        "type": "array",
        "items": {"type": "integer", "format": "int32", "id": "a", "enumNames": ["b"], "_minimum": 3},
        "additionalItems": False,
        "$id": "c",
        "form": [],
    },
    "more than are counted": {"type": ["array", "string"], "maxLength": 5_000},
    "never": {"properties": {"a": False, "b": True}, "type": "object"},
    "one of overlapping numbers": {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 2}]},
    "one of what is required": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}, {"required": ["c"]}],
    },
    "one of objects": {
        "oneOf": [
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": False},
            {"type": "object", "properties": {"a": {"minimum": 2}, "b": {"type": "null"}}, "required": ["b"]},
        ]
    },
    "one of arrays": {
        "oneOf": [
            {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
            {"type": "array", "prefixItems": [{"enum": [1, "a"]}], "minItems": 1},
        ]
    },
    "one of strings": {
        "type": "string",
        "oneOf": [{"pattern": "^a"}, {"maxLength": 1}, {"enum": ["b", "ab"]}],
    },
    "one of itself": {
        "oneOf": [
            {"type": "object", "properties": {"a": {"$ref": "#"}}, "additionalProperties": False},
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"type": "integer"},
        ]
    },
    "one of one of": {"oneOf": [{"oneOf": [{"type": "integer"}, {"minimum": 2}]}, {"maximum": 3}]},
    "not": {"not": {"enum": ["a", 1, 2.5, None, [], [1], {"a": 1}, {}]}},
    "not a type": {"not": {"type": ["integer", "string", "null"]}},
    "not required": {"type": "object", "not": {"required": ["a", "b"]}},
    "not any of": {"type": "object", "not": {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}},
    "not properties": {"type": "object", "not": {"properties": {"a": {"type": "integer"}, "b": True}}},
    "not closed": {
        "not": {"properties": {"a": True, "c": True}, "additionalProperties": {"type": "integer"}}
    },
    "not closed beside others": {
        "properties": {"b": {"type": "string"}, "zz": True},
        "not": {"properties": {"a": True}, "additionalProperties": False},
        "type": "object",
    },
    "not a tuple": {"type": "array", "not": {"prefixItems": [{"const": 1}], "items": {"type": "null"}}},
    "not limits": {"not": {"minLength": 2, "maximum": 2, "minItems": 1, "maxProperties": 0}},
    "not a pattern": {"type": "string", "not": {"pattern": "b"}, "maxLength": 3},
    "not not": {
        "not": {"not": {"type": "object", "required": ["a"], "additionalProperties": {"type": "null"}}}
    },
    "not of itself": {"type": "object", "properties": {"a": {"not": {"$ref": "#"}}}},
    "not a multiple": {"type": "number", "not": {"multipleOf": 2}},
    "some properties": {"type": "object", "minProperties": 1, "maxProperties": 2, "properties": {"b": True}},
    "two of three": {
        "type": "object",
        "properties": {"a": True, "b": {"type": "integer"}, "c": False, "age": True},
        "minProperties": 2,
        "additionalProperties": False,
    },
    "one at most": {"type": "object", "maxProperties": 1, "patternProperties": {"^a": {"type": "integer"}}},
    "no properties": {"type": ["object", "null"], "maxProperties": 0},
    "multiples": {"type": "number", "multipleOf": 4},
    "whole numbers": {"type": ["number", "string"], "multipleOf": 1},
    "halves": {"multipleOf": 0.5},
    "if": {
        "type": "object",
        "properties": {"a": True, "b": True},
        "if": {"properties": {"a": {"type": "integer"}}, "required": ["a"]},
        "then": {"required": ["b"]},
        "else": {"properties": {"c": {"type": "string"}}},
    },
    "dependent": {
        "type": "object",
        "dependentRequired": {"a": ["b", "c"], "c": []},
        "dependentSchemas": {"b": {"properties": {"age": {"type": "integer"}}, "maxProperties": 3}},
    },
    "names": {"type": "object", "propertyNames": {"maxLength": 1, "not": {"const": "b"}}},
    "listed names": {"propertyNames": {"enum": ["a", "zz", 3]}, "properties": {"zz": {"type": "integer"}}},
    "contains": {"type": "array", "contains": {"type": "integer"}, "maxItems": 3},
    "contains two": {
        "allOf": [{"contains": {"type": "integer"}}, {"contains": {"type": ["null", "string"]}}],
        "items": {"type": ["integer", "string"]},
        "type": "array",
    },
    "contains at an end": {"type": "array", "prefixItems": [True], "not": {"items": {"type": "integer"}}},
    "closed together": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": True},
        "additionalProperties": False,
        "allOf": [
            {"properties": {"b": {"type": "integer"}, "c": True}, "additionalProperties": {"minimum": 2}}
        ],
    },
    "one and true": {
        "allOf": [{"contains": {"const": 1}}, {"contains": {"const": True}}, {"anyOf": [{"maxItems": 3}]}],
        "type": "array",
        "anyOf": [{"items": {"type": ["boolean", "number"]}}],
    },
    "earlier dependencies": {"dependencies": {"a": ["b"], "c": {"maxProperties": 2}}, "type": "object"},
    "items together": {
        "allOf": [
            {"prefixItems": [True, {"type": "integer"}], "items": {"minimum": 2}},
            {"items": {"maximum": 100}},
        ],
        "type": "array",
    },
    "enum with more": {
        "enum": ["a", "ab", 1, 12, [1], {"a": 1}],
        "minLength": 2,
        "minimum": 2,
        "minItems": 2,
    },
    **{
        f"pattern {pattern}": {"type": "string", "pattern": pattern}
        for pattern in (
            "^a*$",
            "b",
            "^(a|é)",
            "[a-b]$|^$",
            "^[^ab]{2}$",
            r"^\d+-\w?$",
            r"a\b",
            r"^(?!.*b$)(?=.*a)",
            r"(?<=a)b",
            r"^\p{L}+$",
            r"^[\P{L}a]\p{General_Category=Lowercase_Letter}$",
            r"^(?:(?!ab).)*$",
            r"\u00e9|\\|\x22",
            "^(a$|ab)",
            "(^|b)a",
        )
    },
    "patterns together": {"type": "string", "pattern": "a", "allOf": [{"pattern": "b"}, {"maxLength": 3}]},
    "patterns apart": {
        "items": {"anyOf": [{"pattern": "^a", "type": "string"}, {"pattern": "b$", "type": "string"}]}
    },
}
TEXTS = ("", "a", "b", "ab", "aé", "aab", 'a"b', "\\", "bb a", "1-", "12-a", "😀", "\n", "x", "y", "/")
DATES = (
    "2024-02-29",
    "2023-02-29",
    "2023-04-31",
    "1900-02-29",
    "2000-02-29T23:59:59Z",
    "2023-12-31t00:00:00.5+01:00",
)
IDS = ("12345678-1234-1234-1234-123456789abF", "12345678123412341234123456789abc")
NUMBERS = (
    0,
    1,
    2,
    3,
    12,
    100,
    101,
    120,
    121,
    -1,
    -2,
    -11,
    -12,
    -13,
    2.5,
    -2.5,
    -2.6,
    10.2,
    10.25,
    10.3,
    -0.5,
    -0.4,
    0.1,
)
NAMES = ("a", "b", "c", "age", "kid", "name", "zz", "zé")


def is_valid(name, value):
    return validator(name).is_valid(value)


FORMATS = FormatChecker(["date", "uuid"])


@FORMATS.checks("date-time")
def is_time(text):
    if not isinstance(text, str):
        return True
    parts = re.fullmatch(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)", text)
    try:
        return parts is not None and bool(datetime.datetime.fromisoformat(f"{parts[1]} {parts[2]}"))
    except ValueError:
        return False


def pattern_of_ecma(_validator, pattern, value, _schema):
    flags = 0 if "\\p" in pattern else regex.ASCII
    if isinstance(value, str) and not regex.search(pattern.replace("$", r"\Z"), value, flags):
        yield ValidationError("does not match")


def dependencies_of_earlier_drafts(checker, dependencies, value, _schema):
    for name, of in dependencies.items():
        if isinstance(value, dict) and name in value:
            yield from checker.descend(value, {"required": of} if isinstance(of, list) else of)


def unique_items(_validator, is_wanted, value, _schema):
    """As in the specification: `jsonschema` 4.26.0 misses the last of `[[1], [true], [1]]`."""
    if is_wanted and isinstance(value, list):
        texts = [json.dumps(one, sort_keys=True) for one in value]
        if len(set(texts)) < len(texts):
            yield ValidationError("has one value twice")


AsInEcma = extend(
    Draft202012Validator,
    {
        "pattern": pattern_of_ecma,
        "dependencies": dependencies_of_earlier_drafts,
        "uniqueItems": unique_items,
    },
)


@cache
def validator(name):
    return AsInEcma(SCHEMAS[name], format_checker=FORMATS)


@cache
def engine(name, compact):
    return Engine(json_schema(SCHEMAS[name], compact=compact))


def random_value(rng, depth=3):
    kind = rng.random()
    if depth and kind < 0.3:
        names = sorted({rng.choice(NAMES) for _ in range(rng.choice((0, 1, 2, 3)))}, key=NAMES.index)
        return {name: random_value(rng, depth - 1) for name in names}
    if depth and kind < 0.5:
        return [random_value(rng, depth - 1) for _ in range(rng.choice((0, 1, 2, 3)))]
    if kind < 0.75:
        return rng.choice((*TEXTS, *TEXTS, *DATES, *IDS))
    return rng.choice((*NUMBERS, None, True, False))


def state_of(name, text, rng, *, compact=False):
    """The state of a random part of *text* as a middle."""
    start, end = sorted(rng.choices(range(len(text) + 1), k=2))
    left, middle, right = (part.encode() for part in (text[:start], text[start:end], text[end:]))
    first = engine(name, compact).document(left + right).middle(len(left), len(left), relax=False).start
    state = first and first.feed(middle)
    if state is not None:
        whole = left + middle + state.shortest_completion + right
        assert is_valid(name, json.loads(whole)), whole
    return state


def check(name, text, rng, *, compact=False):
    """The verdict on *text* is that of `jsonschema`; of mutants, if it is spelled as here."""
    state = state_of(name, text, rng, compact=compact)
    says = state is not None and state.complete
    value = json.loads(text)
    if name in REORDERED and not says:
        says = any(reads_whole(name, order) for order in orders(value))
    assert says == is_valid(name, value), text
    return says


def orders(value):
    """The object *value*, with its properties in any order."""
    return map(dict, permutations(value.items())) if isinstance(value, dict) else ()


def reads_whole(name, value):
    text = json.dumps(value)
    state = engine(name, False).document(text.encode()).middle(len(text), len(text), relax=False).start
    return state is not None and state.complete


REORDERED = (
    *("not", "not closed", "not closed beside others", "not not", "some properties", "if", "names"),
    "earlier dependencies",
)
"""Schemas whose properties are in an order that is not the one of the random values."""


@pytest.mark.parametrize(
    ("name", "compact", "n_values"),
    [
        *((name, number % 3 == 0, 40) for number, name in enumerate(SCHEMAS)),
        *(pytest.param(*both, 300, marks=pytest.mark.slow) for both in product(SCHEMAS, (False, True))),
    ],
)
def test_instances_and_others(name, compact, n_values):
    rng, n_valid = random.Random(name), 0
    for number in range(n_values):
        value = random_value(rng, depth=number % 4)
        separators = (",", ":") if compact else None
        text = json.dumps(value, ensure_ascii=number % 2 == 0, separators=separators)
        n_valid += check(name, text, rng, compact=compact)
    assert n_valid or name in RARE or n_values < 100


RARE = (
    "one and true",
    "different and sought",
    "not not",
    "two of three",
    "person",
    "tree",
    "all of",
    "items",
    "tagged",
)
"""Schemas with instances that random values seldom are."""

PIECES = (
    '"',
    ",",
    "1",
    "}",
    "]",
    "a",
    "\\",
    " ",
    "[",
    "{",
    "0",
    ":",
    ".",
    "e",
    "-",
    "b",
    "null",
    '"a":',
    "\\u0061",
)


@pytest.mark.parametrize("n_texts", [20, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SCHEMAS)
def test_what_the_grammar_generates_and_mutants_of_it(name, n_texts):
    rng = random.Random(f"mutants {name}")
    for _ in range(n_texts):
        text = generated(name, rng)
        assert is_valid(name, json.loads(text)), text
        at = rng.randrange(len(text) + 1)
        mutant = text[:at] + rng.choice(PIECES) + text[at + rng.choice((0, 1, 2)) :]
        state = state_of(name, mutant, rng)
        if state is not None and state.complete:
            assert is_valid(name, json.loads(mutant)), mutant


def generated(name, rng):
    state = engine(name, False).document(b"").middle(0, 0).start
    text = b""
    for _ in range(rng.choice((3, 10, 30))):
        pieces = [*PIECES, *map(json.dumps, (*NAMES, *TEXTS)), '"name":', '"b":', '"age":', "2024-0"]
        piece = rng.choice(pieces).encode()
        following = state.feed(piece)
        if following is not None:
            state, text = following, text + piece
    return (text + state.shortest_completion).decode()


def test_a_mask_has_the_tokens_that_a_text_may_go_on_with():
    rng = random.Random(3)
    tokens = [
        piece.encode() for piece in (*PIECES, *map(json.dumps, (*NAMES, *TEXTS)), '{"b', '": ', '"}', "2, ")
    ]
    vocabulary = Vocabulary(tokens)
    for name in SCHEMAS:
        state = engine(name, False).document(b"").middle(0, 0).start
        for _ in range(12):
            allowed = [state.feed(token) for token in tokens]
            bits = np.unpackbits(state.mask(vocabulary).view(np.uint8), bitorder="little")
            assert [*map(bool, bits[: len(tokens)])] == [one is not None for one in allowed], name
            following = [one for one in allowed if one is not None]
            state = rng.choice(following) if following else state


def test_properties_are_in_the_order_of_the_schema_and_others_after_them():
    language = Engine(json_schema({"properties": {"b": True, "a": True}}))
    for text, accepted in {
        '{"b":1,"a":2,"c":3}': True,
        '{"a":2,"b":1}': False,
        '{"c":1,"a":2}': False,
    }.items():
        state = language.document(text.encode()).middle(len(text), len(text), relax=False).start
        assert (state is not None and state.complete) == accepted


OF_FORMAT = {
    "ipv4": (["0.0.0.0", "255.10.1.99"], ["1.2.3", "256.1.1.1", "01.2.3.4", "1.2.3.4.5"]),
    "ipv6": (
        [
            "::",
            "::1",
            "1::",
            "a:B:c:d:e:f:0:1",
            "1:2::7:8",
            "1:2:3:4:5:6:7::",
            "::ffff:1.2.3.4",
            "1::5:1.2.3.4",
        ],
        [
            "",
            ":",
            "1:2:3:4:5:6:7:8:9",
            "1::2::3",
            "12345::",
            "1:2:3:4:5:6:7",
            "::1.2.3.256",
            "1:2:3:4:5:6:7:1.2.3.4",
        ],
    ),
    "hostname": (
        ["a", "a-b.c1.example", "1.2"],
        ["", "-a", "a-", "a..b", "a_b", ".a", "xn--a", "a.xn--b", f"{'a' * 64}.b"],
    ),
    "email": (["a@b", "a.b+c@d.example"], ["a", "@b", "a@", ".a@b", "a..b@c", "a b@c", "a@-b"]),
    "uri": (
        ["a:", "urn:x:y", "http://u:p@h:80/a//b?c=d/?#e", "http://[::1]/%41", "file:///a", "mailto:a@b.c"],
        ["", "a", "/a", "1a:b", "a:b c", "a:%4", "http://[::1", "http://a:b", "a:b#c#d", "a:<b>"],
    ),
    "uri-reference": (["", "a", "/a?b", "//h/x", "#c", "a:b", "../a"], ["%", "a b", "a#b#c", "\\a"]),
    "json-pointer": (["", "/", "/a~0b/~1c", "//é"], ["a", "/~", "/~2", "~0"]),
}


ORDERS = {
    "dependencies": (
        {"dependentRequired": {"b": ["a"], "d": ["c"]}},
        [{"b": 1, "a": 2}, {"d": 1, "c": 2}, {"b": 1, "a": 2, "d": 3, "c": 4}, {"a": 1, "d": 1, "c": 1}],
        [{"a": 1, "b": 2}],
    ),
    "earlier dependencies": (
        {"properties": {"c": True, "b": True}, "dependencies": {"b": ["a", "c"], "d": {"required": ["e"]}}},
        [{"c": 1, "b": 2, "a": 3}, {"c": 1, "b": 1, "a": 1, "d": 1, "e": 1}, {"d": 1, "e": 2}],
        [{"b": 1, "a": 2, "c": 3}],
    ),
    "schemas of dependencies": (
        {
            "properties": {"a": True, "b": True, "c": True},
            "dependentSchemas": {"c": {"properties": {"b": {"minimum": 2}}, "required": ["b"]}},
        },
        [{"a": 1, "b": 2, "c": 3}],
        [{"b": 2, "a": 1, "c": 3}],
    ),
    "conditions": (
        {
            "properties": {"a": True, "b": True, "c": True},
            "if": {"properties": {"b": {"const": 1}}},
            "then": {"required": ["c"]},
            "else": {"required": ["a"], "properties": {"d": {"type": "null"}}},
        },
        [{"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 2, "c": 1, "d": None}, {"b": 1, "c": 1}],
        [{"b": 2, "a": 1}, {"b": 1, "a": 1, "c": 1}],
    ),
    "conditions about others": (
        {"if": {"required": ["b"]}, "then": {"required": ["a"]}},
        [{"b": 1, "a": 1}, {"b": 1, "a": 1, "c": 1}, {"a": 1}],
        [{"a": 1, "b": 1}],
    ),
    "demanded ones": (
        {"required": ["c", "b"], "properties": {"a": True, "b": True}},
        [{"a": 1, "b": 1, "c": 1}, {"b": 1, "c": 1, "d": 1}],
        [{"c": 1, "b": 1}],
    ),
    "alternatives": (
        {"anyOf": [{"properties": {"b": {"type": "null"}}, "required": ["b"]}], "properties": {"a": True}},
        [{"a": 1, "b": None}],
        [{"b": None, "a": 1}],
    ),
}


@pytest.mark.parametrize("name", ORDERS)
def test_properties_keep_one_order_in_all_alternatives(name):
    schema, *texts = ORDERS[name]
    start = Engine(json_schema(schema)).document(b"").middle(0, 0).start
    for values, accepted in zip(texts, (True, False), strict=True):
        for value in values:
            assert Draft202012Validator(schema).is_valid(value)
            state = start.feed(json.dumps(value).encode())
            assert (state is not None and state.complete) == accepted, value


ONE = {
    "type": ["object", "null"],
    "properties": {"b": {"type": "integer", "minimum": 1}, "a": {"enum": [1, "x"]}},
    "dependentRequired": {"a": ["b"], "c": ["a"]},
    "allOf": [{"maxProperties": 3, "minProperties": 1}],
    "$defs": {"x": {}, "y": {}},
}
OTHER = {
    "$defs": {"y": {}, "x": {}},
    "allOf": [{"minProperties": 1, "maxProperties": 3}],
    "dependentRequired": {"a": ["b"], "c": ["a"]},
    "properties": {"b": {"minimum": 1, "type": "integer"}, "a": {"enum": ["x", 1]}},
    "type": ["null", "object"],
}
ORDERED = (
    ({"properties": {"a": True, "b": True}}, {"properties": {"b": True, "a": True}}),
    ({"required": ["a", "b"]}, {"required": ["b", "a"]}),
    ({"const": {"a": 1, "b": 1}}, {"const": {"b": 1, "a": 1}}),
    ({"enum": [{"type": 1, "a": 1}]}, {"enum": [{"a": 1, "type": 1}]}),
)


def test_schemas_are_equal_if_only_an_order_without_effect_differs():
    assert json_schema(ONE) == json_schema(OTHER)
    assert json_schema({"items": ONE}) == json_schema({"items": OTHER})
    assert all(json_schema(one) != json_schema(other) for one, other in ORDERED)


VALUES = ("a", 1, True, None, [1], [True])


@pytest.mark.parametrize("name", [name for name in SCHEMAS if name.startswith("different")])
def test_values_that_differ(name):
    for length in range(4):
        for values in product(VALUES, repeat=length):
            assert reads_whole(name, [*values]) == is_valid(name, [*values]), values


@pytest.mark.parametrize("name", OF_FORMAT)
def test_formats(name):
    engine = Engine(json_schema({"type": "string", "format": name}))
    for texts, accepted in zip(OF_FORMAT[name], (True, False), strict=True):
        for text in texts:
            state = (
                engine.document(b"").middle(0, 0).start.feed(json.dumps(text, ensure_ascii=False).encode())
            )
            assert (state is not None and state.complete) == accepted, text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "longest", "longer"),
    [({"type": "string", "maxLength": 5_000}, "a" * 1_000, "a"), ({"maxItems": 3_000}, [1] * 1_000, [1])],
)
def test_more_than_are_counted(schema, longest, longer):
    start = Engine(json_schema(schema, compact=True)).document(b"").middle(0, 0).start
    for value, accepted in ((longest, True), (longest + longer, False)):
        state = start.feed(json.dumps(value, separators=(",", ":")).encode())
        assert (state is not None and state.complete) == accepted


def test_white_space_is_free_or_there_is_none():
    schema = {"type": "array", "items": {"type": "integer"}}
    for compact, accepted in ((True, ["[1,2]"]), (False, ["[1,2]", "[ 1 ,\n\t2 ]\r\n"])):
        language = Engine(json_schema(schema, compact=compact))
        for text in ("[1,2]", "[ 1 ,\n\t2 ]\r\n"):
            state = language.document(text.encode()).middle(len(text), len(text), relax=False).start
            assert (state is not None and state.complete) == (text in accepted)


CHAIN = {str(n): {"$ref": f"#/$defs/{n + 1}", "minimum": n} for n in range(3_000)} | {"3000": {}}
REFUSED = [
    (
        {"properties": {"a": {"unevaluatedItems": False}}},
        "at #/properties/a: it has unevaluatedItems, which is not supported. Leave it out.",
    ),
    ({"items": {"uniqueItems": True}}, "#/items: it has uniqueItems for values that are not listed. List"),
    ({"uniqueItems": True, "items": {"type": "string"}, "maxItems": 2}, "for values that are not listed"),
    ({"uniqueItems": True, "prefixItems": [{"type": "string"}, {"enum": ["a"]}]}, "that are not listed"),
    ({"uniqueItems": True, "items": {"enum": [*range(20)]}}, "has uniqueItems for too many values. List few"),
    ({"uniqueItems": 1}, "has a uniqueItems that is not true or false"),
    ({"not": {"uniqueItems": True}}, "it has uniqueItems in a not"),
    ({"then": {"dependentRequired": {"a": 1}}}, "has a dependentRequired that is not an object of lists"),
    ({"reqired": ["a"]}, "at #: it has reqired, which is no keyword and looks like required. Correct it"),
    ({"items": {"$id": "b", "items": {"$ref": "#/a"}}}, "it has $id, which changes the references in it"),
    ({"$ref": "#/$defs/a"}, "refers to #/$defs/a, which does not exist"),
    ({"$ref": "other.json"}, "refers to 'other.json', which is no path in it"),
    ({"$ref": "#"}, "has no instances"),
    ({"allOf": [{"$ref": "#/$defs/0"}, {}], "$defs": CHAIN}, "its references nest too deeply"),
    ({"allOf": [{"$ref": "#"}, {"type": "null"}]}, "refers to itself"),
    ({"properties": {"a/b": {"format": "regex"}}}, "#/properties/a~1b: it has the format 'regex'"),
    ({"format": "datetime"}, "has the format 'datetime', which looks like 'date-time'. Use a pattern"),
    ({"pattern": "(a)\\1"}, "has the pattern '(a)\\\\1', which refers back to a group"),
    ({"pattern": "["}, "has a bracket that is not closed"),
    ({"pattern": "\\p{Greek}"}, "which uses \\p{Greek}, which is no category such as L"),
    ({"pattern": "a" * 300_000}, "more than 400000 steps"),
    ({"type": "text"}, "has a type that is not one of string"),
    ({"required": "a"}, "has a required that is not a list of texts"),
    ({"minLength": 5_000}, "counts more than 1000 characters"),
    ({"minItems": 5_000}, "counts more than 1000 values"),
    ({"oneOf": [{"format": "ipv4"}, {"format": "uuid"}]}, "format in a not, or in a oneOf of which two"),
    ({"not": {"patternProperties": {"a": False}}}, "at #: it has patternProperties in a not"),
    ({"not": {"dependencies": {"a": ["b"]}}}, "it has dependencies in a not"),
    ({"minProperties": 3, "properties": {"a": True}}, "has minProperties 3, but of properties that it does"),
    ({"minContains": 2, "contains": {}}, "has minContains above 1"),
    ({"maxProperties": 1_000, "required": [f"p{n}" for n in range(1_000)]}, "counts too many properties"),
    ({"multipleOf": 12_345}, "has a multipleOf of 12345"),
    ({"multipleOf": 0}, "has a multipleOf that is not a number above 0"),
    ({"not": {}}, "has no instances"),
    ({"not": {"type": "integer", "anyOf": [True]}, "type": "integer"}, "has no instances"),
    (False, "has no instances"),
    ({"enum": []}, "has no instances"),
    ({"type": "object", "properties": {"a": False}, "required": ["a"]}, "has no instances"),
    ({"enum": [float("nan")]}, "it is no JSON"),
    (
        {"items": {"anyOf": [{"pattern": f"a{n}", "type": "string"} for n in range(16)]}},
        "it needs more than 30000 states",
    ),
]


@pytest.mark.parametrize(("schema", "said"), sampled(REFUSED, 2))
def test_what_is_refused(schema, said):
    with pytest.raises(GrammarError, match=re.escape(said)):
        json_schema(schema)


def nested(depth):
    return {"items": nested(depth - 1)} if depth else {}


LARGE = {
    "many properties": lambda n: {"properties": {f"p{i}": {"type": "string"} for i in range(n)}},
    "many required": lambda n: {"required": [f"p{i}" for i in range(n)]},
    "many alternatives": lambda n: {"anyOf": [{"properties": {f"p{i}": {"const": i}}} for i in range(n)]},
    "deep": nested,
    "long": lambda n: {"type": "string", "maxLength": n},
    "items": lambda n: {"type": "array", "maxItems": n, "items": {"type": "array", "minItems": n}},
    "doubled": lambda n: {
        "$ref": "#/$defs/d0",
        "$defs": {
            f"d{i}": {"prefixItems": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} if i < n else {"type": "null"}
            for i in range(n + 1)
        },
    },
    "joined": lambda n: {
        "$ref": "#/$defs/d0",
        "$defs": {
            f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"properties": {f"p{i}": {"type": "null"}}}]}
            if i < n
            else {"type": "object"}
            for i in range(n + 1)
        },
    },
}


@pytest.mark.parametrize("kind", LARGE)
def test_size_grows_with_the_schema(kind):
    sizes = []
    for n in (20, 40):
        language = json_schema(LARGE[kind](n))
        sizes.append(len(language.grammar().productions) + len(language.lexical_spec().dfa.rows))
    assert sizes[1] < 2.5 * sizes[0]
