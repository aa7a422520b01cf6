"""Faults beyond the grammar, by which a suggestion is held back: jumps, labels, names, classes, exports."""

from __future__ import annotations

import random

import pytest

from fimlsp.languages import LANGUAGES
from fimlsp.languages.syntax_trees import TreePolicy, first_fault
from fimlsp.languages.typescript.regular_expressions import is_regular_expression

# left <| suggestion |> right; `¦` marks the place where the suggestion is cut off.
# A text without left and right is a suggestion.
JAVASCRIPT = """
¦return 1
function f() { return 1 }
x = () => { if (a) { return } }
class A { static { ¦return } }
const a = require('a'); if (!a) return
const a = require('a'); class A { static { ¦return } }
import a from 'a'; require('b'); ¦return
exports.a = 1; new.target
a.require('a'); ¦return
¦break
¦continue
for (;;) { break }
for (;;) { () => { ¦break } }
switch (a) { case 1: break }
switch (a) { case 1: ¦continue }
while (a) switch (b) { case 1: continue }
do break; while (a)
for (a of b) { try { c() } finally { continue } }
a: { break a }
a: { continue ¦a }
a: for (;;) continue a
a: b: for (;;) continue a
a: { () => { break ¦a } }
a: { b: { break a } }
a: { ¦a: b; }
a: b; a: c
function f() { ¦yield 1 }
function* f() { yield 1; yield; yield* a }
x = { *m() { yield 1 } }
class A { *[a]() { yield 1 } }
function* f() { class A { [yield 1]() {} } }
function* f() { () => { ¦yield 1 } }
function* f() { class A { a = ¦yield 1 } }
async function f() { await a }
async () => await a
x = { async m() { await a; for await (b of c) d } }
async function f() { class A { [await b]() {} } }
¦super.a
function f() { ¦super.a }
x = { m() { super.a; () => super.b } }
x = { m: function () { ¦super.a } }
class A { a = super.b; static { super.c } }
class A extends B { constructor() { super() } }
class A extends B { constructor() { () => super() } }
class A { constructor() { ¦super() } }
class A extends B { m() { ¦super() } }
class A extends B { static constructor() { ¦super() } }
¦new.target
function f() { new.target; () => new.target }
class A { a = new.target }
() => ¦new.target
new a.target
class A { constructor() {} ¦constructor() {} }
class A { constructor() {} static constructor() {} }
class A { constructor() {} get b() {} ['constructor']() {} }
class A { #a; ¦#a }
class A { get #a() {} set #a(b) {} }
class A { get #a() {} get ¦#a() {} }
class A { get #a() {} static set ¦#a(b) {} }
class A { #a; m() { this.#a; b.#a; #a in c } }
class A { m() { this.¦#a } }
class A { #a; m() { class B { m() { this.#a } } } }
class A { #a } b.¦#a
class A { m() { return ¦#a in b } #b }
delete a.b
delete a
'use strict'; ¦delete a
function f() { 'use strict'; ¦delete (a) }
class A { m() { ¦delete a } }
import a from 'a'; ¦delete a
class A { #a; m() { delete this.#a.b; ¦delete this.#a } }
x = { __proto__: a, ¦__proto__: b }
x = { __proto__: a, '__proto__'() {}, ['__proto__']: b }
({ __proto__: a, __proto__: b } = c)
x = ¦/(/
x = /a/g + ¦/a/gg
x = a / (b / c)
let a; ¦let a
let a; ¦var a
var a; var a
var a; ¦let a
let a; { let a }
let a; { ¦var a }
let a, ¦a
let [a, ¦a] = b
let { a, b: ¦a } = c
let { a: b, a: c, d = a } = e
function f(a) { ¦let a }
function f(a) { var a; { let a } }
function f(a, a) {}
function f(a, ¦a) { 'use strict' }
function f(a, [¦a]) {}
(a, ¦a) => b
class A { m(a, ¦a) {} }
function a() {} function a() {}
{ function a() {} function a() {} }
'use strict'; { function a() {} ¦function a() {} }
export {}; function a() {} ¦function a() {}
{ async function a() {} ¦function a() {} }
function a() {} ¦let a
function f() { function a() {} var a }
{ function a() {} ¦var a }
function* a() {} ¦class a {}
class a {} x = class a {}
try { } catch (a) { ¦let a }
try { } catch (a) { var a }
try { } catch ([a]) { ¦var a }
try { } catch (a) { { let a } }
for (let a of b) { let a }
for (let a of b) { ¦var a }
for (let a;;) { } for (let a;;) { }
switch (a) { case 1: let b; case 2: ¦let b }
import a from 'b'; ¦let a
import a, { ¦a } from 'b'
import { a as b, b as a } from 'c'
class A { static { let a; ¦let a } }
class A { static { let a } b() { let a } }
let a; function f(a) { a => { let b } }
a => { ¦let a }
export let a; export { ¦a }
let a; export { a as b }; export { a as c }
let a; export { a as b, a as ¦b }
export default 1; export ¦default 2
let a; export default a; export { a as ¦default }
export * as a from 'b'; export let ¦a
export * from 'a'; export * from 'b'
export { ¦a }
export { a } from 'b'
export { a }; var a
export { a }; { var a }
export { ¦a }; { let a }
export { a }; import { b as a } from 'c'
export const a = (b) => { for (const c of d) e }, f = (b) => { for (const c of d) e }
a: <|for (;;) break ¦b|>; c
for (;;) { bre<|ak;|> }
bre<|¦ak;|>
let a; le<|¦t a = 1;|>
let a; let <|¦a = 1;|>
<|¦let a;|> let a
for (<|;;|>) { break }
let a = `${<|() => { let a = `${b}` }|>}`; { let a }
// let a
let a; '<|let a|>'
let a; /* <|let a|> */
function f() { <|return a|>
"""
TYPESCRIPT = """
let a: b; ¦let a: b
function a(): b; function a(c: d): e; function a(c?: d) {}
declare let a: b; interface a {} interface a {} namespace a {}
class a {} interface a {} namespace a { let b; ¦let b }
class a {} namespace a { class a {} }
import { a } from 'b'; let a
import { a } from 'b'; import { ¦a } from 'c'
import type { a } from 'b'; import { a } from 'c'
type a = (b: c, b: d) => e
let a: (b: c) => d, e: (b: c) => d
function f(this: a, b: c, ¦b: d) {}
class A { constructor(); constructor(private a?) {} }
class A { constructor() {} ¦constructor() {} }
class A { m(a: b): c; m(a: d): e; m(a) {} }
abstract class A<T> extends B<T> { abstract m(): c; constructor() { super() } }
class A { private a; #b: c; m() { this.#b; this.¦#c } }
export function a(): b; export function a(c?) {}
export default function a(): b; export default function a(c?) {}
export default interface A {} export default 1
declare let a; export declare namespace N { export { a } } export declare namespace M { export { a } }
export interface a {} export const a = 1; export type { a }
export type { a } from 'b'; export { a } from 'c'
namespace N { export let a; } export let a
interface a {} export { a }
export { ¦a }
async function f(): Promise<a> { await b }
function f(a: () => b) { ¦await c }
enum a {} enum a {}
¦return 1
a: for (const b of c) { for (const b of d) { continue a } }
type A = { break: b; return(): c; new (): d; super: e; yield: f; default: g }
let a = <T,>(b: T): b is c => { return d }
"""
TSX = """
x = <a b={() => { for (c of d) { break } }}>don't break; let us `return`</a>
x = <a>{() => { ¦break }}</a>
let a = <b>let a</b>; ¦let a
"""
GO = """
for { break }
¦break
for { func() { ¦break }() }
switch { case a: break }
switch { case a: ¦continue }
select { case <-a: break }
for { switch a.(type) { default: continue } }
L: for { break L }
L: for { continue L }
L: switch { default: break L }
L: switch { default: continue ¦L }
L: { break ¦L }
L: { goto L }
for { break ¦L }
goto ¦L
¦L: for { }
L: for { func() { break ¦L }(); break L }
goto L; a(); L: b()
goto ¦L; { L: a() }
goto ¦L; a := 1; L: b(a)
L: a := 1; b(a); goto L
L: for { break L }; ¦L: for { break L }
L: for { M: for { continue L; break M } }
func() { L: for { break L } }(); L: for { break L }
"""
LUA = """
goto a ::a::
goto ¦a
do goto a end ::a::
goto ¦a do ::a:: end
::a:: ::¦a::
::a:: do ::¦a:: end
do ::a:: end ::a::
::a:: function f() ::a:: end
::a:: function f() goto ¦a end
while x do if y then goto continue end z() ::continue:: end
while x do if y then goto continue end local z = 1 ::continue:: end
goto ¦a local x ::a:: y()
goto a do local x end ::a:: y()
::a:: local x goto a
repeat goto ¦a local x ::a:: until x
goto a local x ::a:: ::b:: ;
for a = 1, 2 do goto b ::b:: end
local a = { goto_ = 1 } x = a.goto_
"""
_FUNCTION = {"go": ("package p\nfunc f() {\n", "\n}\n")}
TEXTS = {
    "javascript": JAVASCRIPT,
    "jsx": JAVASCRIPT,
    "typescript": TYPESCRIPT,
    "tsx": TYPESCRIPT + TSX,
    "go": GO,
    "lua": LUA,
}
CASES = [(name, line) for name, texts in TEXTS.items() for line in texts.strip().splitlines()]


def _first_fault(name: str, left: str, text: str, right: str) -> int | None:
    policy = LANGUAGES[name].language().editor
    assert isinstance(policy, TreePolicy)
    return first_fault(policy.grammar, policy.rules, left.encode(), text.encode(), right.encode())


@pytest.mark.parametrize(("name", "marked"), CASES)
def test_a_suggestion_is_cut_off_before_a_fault(name, marked):
    before, after = _FUNCTION.get(name, ("", ""))
    marked = marked if "<|" in marked else f"<|{marked}|>"
    left, rest = marked.split("<|")
    text, right = rest.split("|>")
    at = text.find("¦")
    found = _first_fault(name, before + left, text.replace("¦", ""), right + after)
    assert found == (None if at < 0 else len(text[:at].encode()))


def test_a_tree_that_is_read_in_part_is_like_a_new_one():
    rng = random.Random(5)
    lines = [line.replace("¦", "") for line in JAVASCRIPT.strip().splitlines() if "<|" not in line]
    left, right = "function f() {\n", "\n}\nlet z;\n"
    for _ in range(60):
        text = "\n".join(rng.choices(lines, k=rng.randrange(4)))
        found = _first_fault("javascript", left, text, right)
        _first_fault("javascript", "", "", "")
        assert _first_fault("javascript", left, text, right) == found, text


REGULAR = (
    (r"a|(b)+?[c-d\]]{1,2}(?=e)*(?<!f)$", "g", True),
    ("(", "", False),
    (")", "", False),
    ("[", "", False),
    ("*", "", False),
    ("a**", "", False),
    ("(?<=a)*", "", False),
    ("(?=a)*", "u", False),
    ("a{2,1}", "", False),
    ("a{1}{2}", "", False),
    ("{1}", "", False),
    ("a{,2}{", "", True),
    ("a{,2}", "u", False),
    ("[b-a]", "", False),
    (r"[\w-a]", "", True),
    (r"[\w-a]", "u", False),
    ("]", "", True),
    ("]", "u", False),
    (r"\_", "", True),
    (r"\_", "u", False),
    (r"\2(a)", "", True),
    (r"\2(a)", "u", False),
    (r"(?<a>b)\k<a>", "", True),
    (r"(?<a>b)\k<c>", "", False),
    (r"\k<c>\(?<a>", "", True),
    (r"\u{110000}", "u", False),
    (r"\u{1}{2}", "", False),
    (r"[[a-z]--[aeiou]]", "v", True),
    (r"(?i-m:a)(?-i:b)", "", True),
    (r"(?ii:a)", "", False),
    ("(?a)", "", False),
    ("a", "gg", False),
    ("a", "uv", False),
    ("a", "x", False),
    ("😀-[😁-😀]", "", True),
)


@pytest.mark.parametrize(("pattern", "flags", "is_valid"), REGULAR)
def test_regular_expressions(pattern, flags, is_valid):
    assert is_regular_expression(pattern, flags) is is_valid
