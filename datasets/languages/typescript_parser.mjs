// The reference parsers of TypeScript and JavaScript. A request is a line with a parser and the number of bytes, then the text;
// the answer is a line of JSON: null if the text is valid, else [the error, true if only a later check finds it].
//
// `typescript` is the parser alone. Its checker, `checked`, refuses some of the accepted texts because of their syntax. For
// JavaScript, acorn's checks of names, labels and regular expressions are later ones; `lenient-javascript` leaves them out.
// `suspending-javascript` and `suspending-typescript` read `yield` as in generators. `reserved-javascript` and `reserved-typescript` refuse the names `await`, `let` and `yield` as well. With `tsx` or `jsx` in place of the
// language, each reads JSX too.
import { readSync, writeSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(process.argv[2] + "/");
const ts = require("typescript");
const { Parser: acorn } = require("acorn");

const OPTIONS = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, noLib: true, noResolve: true, types: [], jsx: ts.JsxEmit.Preserve };
// Errors of the checker that are about syntax: some ranges of its codes, and targets of assignments.
const RANGES = [
  [1000, 1999],
  [8000, 8999],
  [17000, 18999],
];
const CODES = new Set([2357, 2364, 2371, 2391, 2406, 2462, 2463, 2480, 2487, 2491, 2499, 2500, 2754, 2777, 2778, 2779, 2780, 2781, 2858, 5076]);
const LATER =
  /already been declared|Undefined label|Unsyntactic|must be declared|Invalid regular|Invalid flag|strict mode|Deleting|Label |not defined|outside|[Dd]uplicate|reserved word|Redefinition|ctal|escape|[Cc]onstructor|static property|'use strict'|keyword|super|new\.target|import\.meta|Can ?not use|Argument name|Invalid number/;

function typescript(text, name = "/text.ts") {
  const file = parsed(text, name);
  const [first] = file.parseDiagnostics;
  return first ? [message(first, file), false] : null;
}

function parsed(text, name) {
  const options = { languageVersion: ts.ScriptTarget.ESNext, jsDocParsingMode: ts.JSDocParsingMode.ParseNone };
  return ts.createSourceFile(name, text, options, true);
}

// The parser takes reserved words for names of types, `declare x` for an expression with an error reported elsewhere, and
// literals for targets.
function isOdd(node) {
  const { SyntaxKind } = ts;
  if (ts.isTypeReferenceNode(node) && ts.isIdentifier(node.typeName)) {
    const kind = ts.identifierToKeywordKind(node.typeName) ?? ts.stringToToken(node.typeName.text);
    if (kind >= SyntaxKind.FirstReservedWord && kind <= SyntaxKind.LastReservedWord) return true;
  }
  if (ts.isExpressionStatement(node) && ts.isIdentifier(node.expression) && node.expression.text === "declare") return true;
  const isUnary = ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node);
  const counts = isUnary && [SyntaxKind.PlusPlusToken, SyntaxKind.MinusMinusToken].includes(node.operator);
  if (counts && !isCounted(node.operand)) return true;
  if (ts.isBinaryExpression(node) && ts.isAssignmentOperator(node.operatorToken.kind) && !isTarget(node.left)) return true;
  return ts.forEachChild(node, isOdd) ?? false;
}

function isCounted(node) {
  return [ts.isIdentifier, ts.isPropertyAccessExpression, ts.isElementAccessExpression, ts.isNonNullExpression, ts.isParenthesizedExpression].some((is) => is(node));
}

function isTarget(node) {
  return isCounted(node) || ts.isObjectLiteralExpression(node) || ts.isArrayLiteralExpression(node);
}

function checked(text, name = "/text.ts") {
  const file = parsed(text, name);
  if (isOdd(file)) return ["This is accepted by an oversight of the parser. (line 1)", true];
  const host = {
    getSourceFile: (other) => (other === name ? file : undefined),
    getDefaultLibFileName: () => "lib.d.ts",
    writeFile: () => undefined,
    getCurrentDirectory: () => "/",
    getCanonicalFileName: (other) => other,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => "\n",
    fileExists: (other) => other === name,
    readFile: () => undefined,
  };
  try {
    const diagnostics = ts.createProgram([name], OPTIONS, host).getSemanticDiagnostics(file);
    const found = diagnostics.find(({ code }) => CODES.has(code) || RANGES.some(([low, high]) => low <= code && code <= high));
    return found ? [message(found, file), true] : null;
  } catch (error) {
    return [String(error.message), true]; // a text over which the checker fails is open
  }
}

function message({ start, messageText }, file) {
  const line = file.getLineAndCharacterOfPosition(start ?? 0).line + 1;
  return `${ts.flattenDiagnosticMessageText(messageText, " ")} (line ${line})`;
}

function javascript(text, parser = acorn, refused = () => null, more = {}) {
  const errors = [];
  for (const sourceType of ["module", "script"]) {
    try {
      return refused(parser.parse(text, { ecmaVersion: "latest", sourceType, allowHashBang: true, ...more }));
    } catch (error) {
      const later = LATER.test(error.message) && !/await/i.test(error.message);
      errors.push([error.message.replace(/ \((\d+):\d+\)$/, " (line $1)"), later]);
    }
  }
  return errors.find(([, later]) => later) ?? errors[0];
}

const LENIENT = { allowReturnOutsideFunction: true, allowSuperOutsideMethod: true, checkPrivateFields: false };

function lenient(parser) {
  class Lenient extends parser {
    raise(position, text) {
      const isLater = LATER.test(text) && !/await|escape|unexpected|reserved word|'enum'|invalid use|ctal|number/i.test(text);
      if (!isLater && !/let is disallowed|can not be deleted/.test(text)) super.raise(position, text);
    }
    raiseRecoverable(position, text) {
      this.raise(position, text);
    }
    validateRegExpFlags() {}
    validateRegExpPattern() {}
  }
  return Lenient;
}

function generator(text) {
  return `async function* f() {${text.replace(/^#!.*/, "")}\n}`;
}

// Words that are names in some functions or scripts only.
const RESERVED = new Set(["await", "let", "yield"]);

function reservedTypescript(text, name = "/text.ts") {
  const isProperty = ({ parent: to }) =>
    ts.isPropertyAccessExpression(to) || (ts.isObjectLiteralElementLike(to) && !ts.isShorthandPropertyAssignment(to)) || ts.isClassElement(to) || ts.isTypeElement(to);
  const isReserved = (node) =>
    (ts.isIdentifier(node) && RESERVED.has(node.text) && !(isProperty(node) && node.parent.name === node)) ||
    (ts.forEachChild(node, isReserved) ?? false);
  return isReserved(parsed(text, name)) ? ["This name is reserved in modules. (line 1)", true] : typescript(text, name);
}

// An error if a name in the tree is reserved in modules; names of properties may be.
function reservedName(node) {
  if (node?.type === "Identifier" && RESERVED.has(node.name)) return ["This name is reserved in modules. (line 1)", true];
  for (const key of Object.keys(node ?? {})) {
    const isProperty = ["property", "key"].includes(key) && !node.computed && !node.shorthand;
    const found = typeof node[key] === "object" && !isProperty ? reservedName(node[key]) : null;
    if (found) return found;
  }
  return null;
}

const PARSERS = {
  typescript,
  checked,
  javascript,
  tsx: (text) => typescript(text, "/text.tsx"),
  "checked-tsx": (text) => checked(text, "/text.tsx"),
  jsx: (text) => javascript(text, jsxParser),
  "reserved-typescript": reservedTypescript,
  "reserved-tsx": (text) => reservedTypescript(text, "/text.tsx"),
  "suspending-typescript": (text) => typescript(generator(text)),
  "suspending-tsx": (text) => typescript(generator(text), "/text.tsx"),
  "lenient-javascript": (text) => javascript(text, lenientParser, () => null, LENIENT),
  "lenient-jsx": (text) => javascript(text, lenientJsxParser, () => null, LENIENT),
  "suspending-javascript": (text) => javascript(text, suspending(lenientParser), () => null, LENIENT),
  "suspending-jsx": (text) => javascript(text, suspending(lenientJsxParser), () => null, LENIENT),
  "reserved-javascript": (text) => javascript(text, lenientParser, reservedName, LENIENT),
  "reserved-jsx": (text) => javascript(text, lenientJsxParser, reservedName, LENIENT),
};
const jsxParser = acorn.extend(require("acorn-jsx")());
const suspending = (parser) => class extends parser {
  get inGenerator() {
    return true;
  }
  inGeneratorContext() {
    return true;
  }
  checkYieldAwaitInDefaultParams() {}
};
const lenientParser = lenient(acorn);
const lenientJsxParser = lenient(jsxParser);
let pending = Buffer.alloc(0);

function more() {
  const chunk = Buffer.alloc(1 << 16);
  const count = readSync(0, chunk);
  if (!count) process.exit(0);
  pending = Buffer.concat([pending, chunk.subarray(0, count)]);
}

for (;;) {
  let end = 0;
  while ((end = pending.indexOf(10)) < 0) more();
  const [parser, size] = pending.subarray(0, end).toString().split(" ");
  pending = pending.subarray(end + 1);
  while (pending.length < Number(size)) more();
  const bytes = pending.subarray(0, Number(size));
  pending = pending.subarray(Number(size));
  const text = bytes.toString("utf8");
  const answer = Buffer.from(text, "utf8").equals(bytes) ? PARSERS[parser](text.replace(/^\ufeff/, "")) : ["This is not UTF-8. (line 1)", false];
  writeSync(1, JSON.stringify(answer) + "\n");
}
