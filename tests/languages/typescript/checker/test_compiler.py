"""The faults that TypeScript 7 finds, the program that a folder has, and the errors that count."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import pytest

from fimlsp.languages.type_checker.language_server import Diagnostic
from fimlsp.languages.type_checker.process import CheckedPlace, CheckQuestion, TypeChecker
from fimlsp.languages.typescript.checker.compiler import (
    NoCompilerError,
    TypeScriptProject,
    TypeScriptProjects,
    compiler_in,
)
from fimlsp.languages.typescript.checker.modules import ModuleCopies
from fimlsp.languages.typescript.checker.resolution import Resolution
from fimlsp.lexing.automata.cached_files import cache_folder

INSTALLED = Path(os.environ.get("FIMLSP_TYPESCRIPT") or cache_folder() / "typescript")
"""`npm install --prefix ~/.cache/fimlsp/typescript typescript@7.0.2`."""

FILES = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "jsx": "react-jsx", '
    '"paths": {"@/*": ["./lib/*"]}}}',
    "src/globals.d.ts": "declare const VERSION: string;\n",
    "lib/shape.ts": "export class Shape { readonly size = 1; grow(by: number): Shape { return this } }\n",
    "src/plain.js": "export class Shape { constructor() { this.size = 1 } }\nexport const size = 1\n",
    "node_modules/pkg/package.json": '{"exports": {".": {"types": "./pkg.d.ts"}}}',
    "node_modules/pkg/pkg.d.ts": "export function go(a: string): void;\n"
    "export interface Options { a: number; b: string }\n"
    "export function set(options: Options): void;\n",
    "node_modules/react/package.json": "{}",
    "node_modules/@types/react/package.json": '{"types": "index.d.ts", "exports": {".": "./index.d.ts", '
    '"./jsx-runtime": "./jsx-runtime.d.ts"}}',
    "node_modules/@types/react/index.d.ts": "export {}\n",
    "node_modules/@types/react/jsx-runtime.d.ts": "export namespace JSX { interface IntrinsicElements { "
    "p: { id?: string; children?: unknown } } type Element = object }\n",
}
HEAD = """
import { Shape } from "@/shape";
import { go, set } from "pkg";
import { anything } from "nowhere";

const shape = new Shape();
"""
CASES = [
    # members
    ("<|shape.sizes|>;", "Property 'sizes' does not exist on type 'Shape'", 11),
    ("sha<|pe.size|>;", None, None),
    ("<|shape.grow(1).nope|>;", "Property 'nope' does not exist", 18),
    ("<|anything.at.all(1)|>;", None, None),
    ("<|VERSION.length|>;", None, None),
    ("import { <|run|> } from 'pkg';", "has no exported member 'run'", 3),
    ("import { <|go as run|> } from 'pkg';", None, None),
    ("import { <|a|> } from './nothing';", None, None),
    # names
    ("<|undefinedName|>;", "Cannot find name 'undefinedName'", 13),
    ("function f(name: string) { return na<|mename|> }", "Cannot find name 'namename'", 6),
    ("<|describe|>('a', () => {});", None, None),
    # calls and values
    ("go(<|'a', 'b'|>);", "Expected 1 arguments, but got 2", 8),
    ("go(<||>);", None, None),
    ("go<|()|>;", None, None),
    ("go(<|1|>);", "Argument of type 'number' is not assignable", 1),
    ("<|shape()|>;", "This expression is not callable", 5),
    ("set({ <|a: 1|> });", None, None),
    ("set({ <|a: 1, c: 2|> });", "'c' does not exist in type 'Options'", 7),
    ("set({ b: '', <|a: ''|> });", "Type 'string' is not assignable to type 'number'", 1),
    ("<|shape.size = 2|>;", "Cannot assign to 'size'", 10),
    ("const n: number = <|shape|>;", None, None),
    ("const n = 1 <|* shape|>;", "must be of type 'any', 'number'", 7),
    # elements
    ("const e = <p <|id='a'|> />;", None, None),
    ("const e = <p <|name='a'|> />;", "not assignable to type", 4),
    ("const e = <|<q />|>;", "Property 'q' does not exist", 5),
    # faults that are there without the text, or elsewhere
    ("nowhere(<|1|>);", None, None),
    ("shape.nope;\n<|const a = 2|>;", None, None),
    # several lines, other alphabets, texts that are not finished
    ("<|const a = 1;\nshape.nope|>;", "Property 'nope'", 23),
    ("const größe = 1; const b = 'ä' + <|größe.nope|>;", "Property 'nope'", 12),
    ("<|if (shape.size) {|>", None, None),
    ("<|if (shape.nope) {|>", "Property 'nope'", 14),
]
"""`left<|text|>right` after `HEAD`, the words of the fault, and the end of the part that has it."""


def read(path):
    return path.read_bytes() if path.is_file() else None


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def checker():
    checker = TypeChecker(TypeScriptProjects(), lambda _: read)
    yield checker
    checker.end()


def faults(checker, path, folder, left, right, *texts, opened=()):
    place = CheckedPlace(path, (folder,), (), compiler_in(INSTALLED), left, right)
    return checker.answer(CheckQuestion(place, texts, opened))


@pytest.mark.node
@pytest.mark.parametrize(("marked", "words", "end"), CASES)
def test_faults(checker, workspace, marked, words, end):
    left, rest = (HEAD + marked).encode().split(b"<|", 1)
    text, right = rest.split(b"|>")
    (fault,) = faults(checker, workspace / "src/main.tsx", workspace, left, right, text)
    assert (fault is None) == (words is None), fault
    if fault is not None:
        assert words in fault.words
        assert fault.end == end


JAVASCRIPT_HEAD = """
import { Shape, size } from "./plain.js";
import { go } from "pkg";
const fs = require("fs-that-is-not-there");

const shape = new Shape();
const options = {};
let count = 1;
"""
JAVASCRIPT_CASES = [
    ("<|shape.sizes|>;", "Property 'sizes' does not exist on type 'Shape'", 11),
    ("<|shape.size|>;", None, None),
    ("<|size.toFixd()|>;", "Property 'toFixd' does not exist on type", 11),
    ("<|fs.anything()|>;", None, None),
    ("import { <|sizes|> } from './plain.js';", "has no exported member", 5),
    ("<|undefinedName|>;", "Cannot find name 'undefinedName'", 13),
    ("<|size()|>;", "not callable", 4),
    # values of another type and fewer or more arguments are no faults without types
    ("go(<|1, 2|>);", None, None),
    ("<|count = 'a'|>;", None, None),
    ("const n = <|new Date() - 1|>;", None, None),
    # JavaScript's objects get further members
    ("<|shape.sizes = 1|>;", None, None),
    ("<|options.a|>;", None, None),
    ("<|({ a: 1 }).b|>;", None, None),
    ("try {} catch (e) { <|e.code|> }", None, None),
    ("/** @param {object} props */ function f(props) { <|props.children|> }", None, None),
    ("/** @param {Error} e */ function f(e) { <|e.status|> }", None, None),
    # a file that has such a fault is written in another style
    ("shape.nope;\n<|shape.sizes|>;", None, None),
]


@pytest.mark.node
@pytest.mark.parametrize("ending", [".js", ".mjs", ".jsx"])
@pytest.mark.parametrize(("marked", "words", "end"), JAVASCRIPT_CASES)
def test_faults_in_javascript(checker, workspace, marked, words, end, ending):
    left, rest = (JAVASCRIPT_HEAD + marked).encode().split(b"<|", 1)
    text, right = rest.split(b"|>")
    (fault,) = faults(checker, workspace / f"src/main{ending}", workspace, left, right, text)
    assert (fault is None) == (words is None), fault
    if fault is not None:
        assert words in fault.words
        assert fault.end == end


@pytest.mark.node
def test_a_document_in_typescript_sees_no_types_in_files_of_javascript(checker, workspace):
    for ending, is_fault in [(".js", True), (".ts", False), (".js", True)]:
        (fault,) = faults(
            checker,
            workspace / f"src/other{ending}",
            workspace,
            b"import { size } from './plain.js';\n",
            b"\n",
            b"size.nope",
        )
        assert (fault is not None) == is_fault


@pytest.mark.node
def test_names_of_scripts_may_be_declared_elsewhere(checker, workspace):
    for head, is_fault in [(b"", False), (b"export {};\n", True)]:
        (fault,) = faults(checker, workspace / "src/script.ts", workspace, head, b"\n", b"other()")
        assert (fault is not None) == is_fault


@pytest.mark.node
def test_open_documents_and_changes_on_disk(checker, workspace):
    main, left = workspace / "src/open.ts", b"import { a } from './mine';\n"

    def is_faulty(opened=()):
        (fault,) = faults(checker, main, workspace, left, b"\n", b"a.length", opened=opened)
        return fault is not None

    mine = workspace / "src/mine.ts"
    mine.write_text("export const a = 1\n")
    faults(checker, main, workspace, left, b"\n")
    assert is_faulty()
    mine.write_text("export const a = ''\n")
    assert faults(checker, main, workspace, left, b"\n") == ()
    assert not is_faulty()
    assert faults(checker, main, workspace, left, b"\n", opened=((mine, b"export const a = 1\n"),)) == ()
    assert is_faulty()
    assert faults(checker, main, workspace, left, b"\n", opened=((mine, None),)) == ()
    assert not is_faulty()


def installed(folder, *names):
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), "arm64")
    ending = ".exe" if sys.platform == "win32" else ""
    for name in names:
        program = folder / name / f"typescript-{sys.platform}-{machine}" / "lib" / f"tsc{ending}"
        program.parent.mkdir(parents=True)
        program.touch()
    return program


@pytest.mark.parametrize(
    "name", ["node_modules/@typescript", "node_modules/typescript/node_modules/@typescript"]
)
def test_the_program_of_a_folder(tmp_path, name):
    program = installed(tmp_path, name)
    assert compiler_in(tmp_path) == program.resolve()


def test_a_folder_without_typescript_7(tmp_path):
    (tmp_path / "node_modules/typescript/lib").mkdir(parents=True)
    (tmp_path / "node_modules/typescript/lib/tsc.js").touch()
    with pytest.raises(NoCompilerError, match=r"Cannot check types: .* Do `npm install"):
        compiler_in(tmp_path)


COUNTED = [
    ("2339", "Property 'a' does not exist", True, True, True),
    ("2339", "Property 'a' does not exist", True, False, False),
    ("2304", "Cannot find name 'a'", True, False, True),
    ("2304", "Cannot find name 'a'", False, True, False),
    ("2307", "Cannot find module 'a'", True, True, False),
    ("2345", "Argument\n  Type is missing the following properties from type 'B'", True, True, False),
    ("2322", "Type 'A'\n  Property 'b' is missing in type 'A'", True, True, False),
    ("2339", "Property 'a' does not exist on type 'never'.", True, True, False),
    ("2554", "Expected 1 arguments, but got 2.", True, True, True),
    ("2554", "Expected 0-1 arguments, but got 2.", True, True, True),
    ("2554", "Expected 2 arguments, but got 1.", True, True, False),
    ("2555", "Expected at least 1 arguments, but got 0.", True, True, False),
    ("2558", "Expected 1 type arguments, but got 2.", True, True, True),
]


@pytest.mark.parametrize(("code", "message", "is_module", "are_whole", "counts"), COUNTED)
def test_errors_that_count(tmp_path, code, message, is_module, are_whole, counts):
    class Silent:
        def announce(self, _): ...

        def diagnostics(self, *_):
            return []

    copies = ModuleCopies(tmp_path, Resolution(tmp_path, read))
    project = TypeScriptProject(Silent(), copies)
    text = b"export {}\n" if is_module else b"a\n"
    project.diagnostics(CheckedPlace(None, (tmp_path,), (), tmp_path, text, b""), b"")
    copies.are_whole = are_whole
    assert project.counts(Diagnostic(code, message, (0, 0), (0, 1)), ()) == counts
