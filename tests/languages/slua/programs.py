"""Random scripts, made from the types first: whatever is written is of the type that is wanted."""

from functools import lru_cache

from fimlsp.languages.slua.interface import filled
from fimlsp.languages.slua.types import BOOLEAN, NUMBER, STRING, VOID, Field, Function, Table, holds_functions

SIMPLE = (NUMBER, STRING, BOOLEAN)


@lru_cache(1000)
def paths_within(type_, further=2):
    """Paths from a value of *type_* to its fields: texts, types, whether assignable, whether optional."""
    found = []
    for field in type_.fields.values() if isinstance(type_, Table) else ():
        path = f".{field.name}"
        if not (field.optional and isinstance(field.type, Function)):
            found.append((path, field.type, field.mutable, field.optional))
        if further > 1 and not field.optional:
            found += ((path + longer, *rest) for longer, *rest in paths_within(field.type, further - 1))
    return found


class Writer:
    """Writes one script for *interface* with the draws of *rng*."""

    def __init__(self, interface, rng):
        self._rng = rng
        self._opening = ""
        if rng.random() < 0.3:
            interface, self._opening = self._filled(interface)
        self._given = interface
        self._types = dict(interface.types)
        self._scopes = [[(name, type_, False) for name, type_ in interface.globals.items()]]
        self._count = 0
        self._result = []
        self._loops = [0]

    def script(self):
        ending = ""
        if self._rng.random() < 0.3:
            root = self._rng.choice(list(self._given.roots.values()))
            ending = f"\n{root.function}({self._expression(root.type, 3)});"
        return f"{self._opening}{self._block(4)}{ending}"

    def _filled(self, interface):
        """*interface* with fields of the type that is left open, and how a script says them."""
        types = [*SIMPLE, interface.types["Actor"], interface.types["Place"]]
        fields = tuple(
            Field(f"f{number}", self._rng.choice(types), self._rng.random() < 0.5)
            for number in range(self._rng.randint(0, 3))
        )
        lines = "".join(f"    {'mutable ' if f.mutable else ''}{f.name}: {f.type};\n" for f in fields)
        return filled(interface, "Settings", fields), f"interface Settings {{\n{lines}}};\n"

    def _block(self, depth):
        self._scopes.append([])
        lines = [self._statement(depth) for _ in range(self._rng.randint(0, 4))]
        self._scopes.pop()
        return "\n".join(lines)

    def _fresh(self):
        self._count += 1
        return f"{self._rng.choice(('a', 'value', 'x'))}{self._count}"

    def _statement(self, depth):
        kinds = ["local"] * 4 + ["assign"] * 2 + ["call"] * 3
        kinds += ["do", "if", "if", "for", "while"] if depth else []
        kinds += ["break"] if self._loops[-1] else []
        kinds += ["interface"] if len(self._scopes) == 2 else []
        return getattr(self, f"_{self._rng.choice(kinds)}")(depth)

    def _local(self, depth):
        type_ = self._wanted_type()
        value = self._expression(type_, depth)
        name = self._fresh()
        self._scopes[-1].append((name, type_, not holds_functions(type_)))
        return f"local {name}: {type_} = {value};"

    def _wanted_type(self):
        rng = self._rng
        choice = rng.random()
        if choice < 0.6:
            return rng.choice(SIMPLE)
        if choice < 0.8:
            tables = [table for table in self._types.values() if not table.is_object]
            return rng.choice([*tables, self._types["Actor"]])
        parts = [*SIMPLE, *(table for table in self._types.values() if not holds_functions(table))]
        parameters = tuple(rng.choice(parts) for _ in range(rng.randint(0, 3)))
        return Function(parameters, rng.choice([*SIMPLE, VOID, VOID, self._types["Actor"]]))

    def _interface(self, _):
        name = f"Own{self._fresh()}"
        table = Table(name)
        parts = [*SIMPLE, self._types["Actor"], self._types["Place"], Function((NUMBER,), BOOLEAN)]
        fields, lines = {}, []
        for number in range(self._rng.randint(1, 3)):
            type_ = self._rng.choice(parts)
            mutable = self._rng.random() < 0.5 and not holds_functions(type_)
            optional = self._rng.random() < 0.4
            fields[f"f{number}"] = Field(f"f{number}", type_, mutable, optional)
            modifiers = f"{'mutable ' if mutable else ''}{'optional ' if optional else ''}"
            lines.append(f"    {modifiers}f{number}: {type_};")
        table.fields = fields
        self._types[name] = table
        return "\n".join([f"interface {name} {{", *lines, "};"])

    def _assign(self, depth):
        unmatched_closers = [found for found in self._paths() if found[2]]
        if not unmatched_closers:
            return self._local(depth)
        path, type_, _, _ = self._rng.choice(unmatched_closers)
        return f"{path} = {self._expression(type_, depth)};"

    def _call(self, depth):
        paths = [(path, type_) for path, type_, _, _ in self._paths() if isinstance(type_, Function)]
        path, type_ = self._rng.choice(paths)
        return f"{path}({self._arguments(type_, depth)});"

    def _arguments(self, type_, depth):
        return ", ".join(self._expression(parameter, depth - 1) for parameter in type_.parameters)

    def _do(self, depth):
        return f"do\n{self._block(depth - 1)}\nend;"

    def _if(self, depth):
        text = f"if {self._condition(depth)} then\n{self._block(depth - 1)}\n"
        for _ in range(self._rng.choice((0, 0, 1))):
            text += f"elseif {self._condition(depth)} then\n{self._block(depth - 1)}\n"
        if self._rng.random() < 0.4:
            text += f"else\n{self._block(depth - 1)}\n"
        return text + "end;"

    def _for(self, depth):
        name = self._fresh()
        opener_kind = f"for {name} = {self._expression(NUMBER, 1)}, {self._expression(NUMBER, 1)} do"
        self._scopes.append([(name, NUMBER, False)])
        body = self._looped(depth)
        self._scopes.pop()
        return f"{opener_kind}\n{body}\nend;"

    def _while(self, depth):
        return f"while {self._condition(depth)} do\n{self._looped(depth)}\nend;"

    def _looped(self, depth):
        self._loops[-1] += 1
        body = self._block(depth - 1)
        self._loops[-1] -= 1
        return body

    def _break(self, _):
        return "break;"

    def _condition(self, depth):
        return self._expression(BOOLEAN, min(depth, 2))

    def _paths(self):
        """Paths to what is in scope, as texts with their types: whether assignable, whether optional."""
        found, names = [], set()
        for scope in reversed(self._scopes):
            for name, type_, assignable in reversed(scope):
                if name not in names:
                    names.add(name)
                    found.append((name, type_, assignable, False))
                    found += ((name + path, *rest) for path, *rest in paths_within(type_))
        return found

    def _expression(self, type_, depth):
        rng = self._rng
        if isinstance(type_, Function):
            return self._function(type_, depth)
        paths = [path for path, found, _, optional in self._paths() if found == type_ and not optional]
        calls = [
            (path, found)
            for path, found, _, _ in self._paths()
            if isinstance(found, Function) and found.result == type_
        ]
        if depth > 0 and calls and rng.random() < 0.15:
            path, found = rng.choice(calls)
            return f"{path}({self._arguments(found, depth)})"
        if paths and (rng.random() < 0.3 or (isinstance(type_, Table) and type_.is_object)):
            return rng.choice(paths)
        if isinstance(type_, Table):
            return self._table(type_, depth)
        operation = rng.random() < 0.5 and depth > 0
        return {NUMBER: self._number, STRING: self._string, BOOLEAN: self._boolean}[type_](operation, depth)

    def _table(self, table, depth):
        fields = [field for field in table.fields.values() if not field.optional or self._rng.random() < 0.5]
        self._rng.shuffle(fields)
        return f"{{{', '.join(f'{f.name} = {self._expression(f.type, depth - 1)}' for f in fields)}}}"

    def _number(self, operation, depth):
        if not operation:
            return self._rng.choice(("0", "1", "2.5", "1000000", "99999999999999999999"))
        left, right = self._expression(NUMBER, depth - 1), self._expression(NUMBER, depth - 1)
        return self._rng.choice((f"({left}) {self._rng.choice('+-*/%^')} ({right})", f"- ({left})"))

    def _string(self, operation, depth):
        if not operation:
            return self._rng.choice(('""', '"a"', r'"é\n\"\\"', '"-- no comment"'))
        return f"{self._expression(STRING, depth - 1)} .. {self._expression(STRING, depth - 1)}"

    def _boolean(self, operation, depth):
        rng = self._rng
        if not operation:
            tested = [path for path, found, _, _ in self._paths() if found is not VOID]
            return rng.choice(("true", "false", rng.choice(tested)))
        match rng.randrange(4):
            case 0:
                return f"not ({self._expression(BOOLEAN, depth - 1)})"
            case 1:
                operator = rng.choice(("and", "or"))
                right = self._expression(rng.choice(SIMPLE), depth - 1)
                return f"({self._expression(BOOLEAN, depth - 1)}) {operator} ({right})"
            case 2:
                type_ = rng.choice((NUMBER, STRING))
                operator = rng.choice(("<", "<=", ">", ">=", "==", "~="))
                left, right = (self._expression(type_, depth - 1) for _ in range(2))
                return f"({left}) {operator} ({right})"
            case _:
                return f"player == {self._expression(self._types['Actor'], 0)}"

    def _function(self, type_, depth):
        names = [self._fresh() for _ in type_.parameters]
        self._scopes.append([(name, part, True) for name, part in zip(names, type_.parameters, strict=True)])
        self._loops.append(0)
        self._scopes.append([])
        body = self._block(max(0, depth - 2)) if depth > 0 else ""
        if type_.result is not VOID:
            body += f"\nreturn {self._expression(type_.result, min(depth - 1, 1))};"
        self._scopes.pop()
        self._loops.pop()
        self._scopes.pop()
        return f"function({', '.join(names)})\n{body}\nend"
