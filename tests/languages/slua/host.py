"""A program that gives scripts the values of an interface, and calls every function that it receives."""

from fimlsp.languages.slua.runtime import Sandbox, translate
from fimlsp.languages.slua.types import BOOLEAN, NUMBER, STRING, VOID, Function, Table

MOST_CALLS = 30
ROUNDS = 200
"""Of all loops of one call: enough for every statement in them to run, in little time."""


class Host:
    """Runs scripts, and calls the functions that they hand over, at most `MOST_CALLS` for each script."""

    def __init__(self, interface):
        self._objects = {}
        self._open_types, self._own = interface.open_types, interface
        self.calls = 0
        values = {name: self._value(type_) for name, type_ in interface.globals.items()}
        for name, root in interface.endings(None).items():
            values[name] = self._function(Function((root.type,), VOID))
        self.sandbox = Sandbox(interface, values, rounds=ROUNDS)

    def run(self, checked):
        self.calls, self._own = 0, checked.interface
        self.sandbox.run(translate(checked))

    def _value(self, type_):
        if isinstance(type_, Function):
            return self._function(type_)
        if isinstance(type_, Table) and type_.name in self._open_types:
            fields = self._own.types[type_.name].fields.values()
            return self.sandbox.table(
                {field.name: self._value(field.type) for field in fields if not field.optional}
            )
        if isinstance(type_, Table):
            return self._object(type_)
        return {NUMBER: 3, STRING: "text", BOOLEAN: True, VOID: None}[type_]

    def _object(self, table):
        if table.name not in self._objects:
            self._objects[table.name] = made = type(table.name, (), {})()
            for field in table.fields.values():
                if not field.optional:
                    setattr(made, field.name, self._value(field.type))
                else:
                    setattr(made, field.name, None)
        return self._objects[table.name]

    def _function(self, type_):
        def function(*arguments):
            assert len(arguments) == len(type_.parameters)
            for argument, parameter in zip(arguments, type_.parameters, strict=True):
                self._use(argument, parameter)
            return self._value(type_.result)

        return function

    def _use(self, value, type_):
        """Call functions, and check that other values from a script have their declared type."""
        if isinstance(type_, Function):
            self._call(value, type_)
        elif isinstance(type_, Table):
            type_ = self._own.types.get(type_.name, type_)
            for field in type_.fields.values() if not type_.is_object else ():
                held = self._field(value, field.name)
                assert held is not None or field.optional, field
                if held is not None:
                    self._use(held, field.type)
        else:
            assert isinstance(value, {NUMBER: (int, float), STRING: str, BOOLEAN: bool}[type_]), (
                value,
                type_,
            )

    def _field(self, value, name):
        return value[name] if hasattr(value, "keys") else getattr(value, name)

    def _call(self, function, type_):
        self.calls += 1
        if self.calls <= MOST_CALLS:
            arguments = [self._value(parameter) for parameter in type_.parameters]
            result = self.sandbox.call(function, *arguments)
            if type_.result is not VOID:
                self._use(result, type_.result)
