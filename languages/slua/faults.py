"""What is wrong with a script or an interface file, told as a compiler tells it."""

from __future__ import annotations

from dataclasses import dataclass

from fimlsp.languages.slua.syntax import Place


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """A fault.

    Attributes:
        at: its line and column, both from 1.
        message: what is wrong, with what was expected or what there is.
    """

    at: Place
    message: str

    def __str__(self) -> str:
        return f"{self.at[0]}:{self.at[1]}: {self.message}"


class ScriptSyntaxError(ValueError):
    """A text is not even a sentence of the grammar; `fault` tells where it stops being one."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault
