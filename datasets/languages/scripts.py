"""sLua as a language to replay: scripts that are given one interface, judged by the checker of scripts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from fimlsp.datasets.languages.judges import slua_judge
from fimlsp.datasets.languages.replay_language import ReplayLanguage
from fimlsp.datasets.languages.tokens import slua_tokens
from fimlsp.languages.slua.language import Slua


@dataclass(frozen=True, slots=True)
class Scripts:
    """Scripts that are given the interface with this text, which is right."""

    interface: str = ""

    @property
    def replay_language(self) -> ReplayLanguage:
        """The language as replay knows it."""
        return ReplayLanguage(
            name="slua",
            patterns=("*.slua",),
            grammar=Slua(self.interface),
            judge="fimlsp check",
            syntax_error=partial(slua_judge.fault, self.interface),
            compiler=None,
            suites=slua_tokens.suites_of,
            bodies=slua_tokens.bodies_of,
            statements=slua_tokens.statements_of,
        )

    def to_json(self) -> dict[str, Any]:
        """All of it, so that a run can be read without the file of the interface."""
        return {"interface": self.interface}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Scripts:
        """What `to_json` wrote."""
        return cls(str(row["interface"]))
