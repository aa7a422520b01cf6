"""Effects: the kinds that scripts register, and each effect on an actor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.given_values import Table, line, whole

if TYPE_CHECKING:
    from engine.actors import Actor
    from engine.fight import Fight

MOST_BORNE = 6
MOST_TURNS = 20
MOST_COUNTED = 1_000_000


class EffectKind:
    """An effect that a script has registered."""

    def __init__(self, fight: Fight, name: str, script: Table, *, is_generated: bool = False) -> None:
        self.fight = fight
        self.name = name
        self.script = script
        self.title = line(script["title"]) or name
        self.is_generated = is_generated

    def on(self, who: Actor) -> Borne | None:
        """The effect of this kind on *who*; None if there is none."""
        return next((borne for borne in who.effects if borne.kind is self), None)

    def Apply(self, on: Actor, by: Actor, turns: float, settings: Table) -> None:
        borne = self.on(on)
        if borne is not None:
            borne.settings, borne.turns = settings, max(borne.turns, whole(turns, 0, MOST_TURNS))
        elif on.IsAlive() and len(on.effects) < MOST_BORNE:
            borne = Borne(self, on, by, turns, settings)
            on.effects.append(borne)
            self.fight.happened(f"{on.name}: {self.title}", on)
            borne.hook("OnActivate")

    def Remove(self, who: Actor) -> bool:
        borne = self.on(who)
        if borne is not None:
            borne.end()
        return borne is not None

    def IsOn(self, who: Actor) -> bool:
        return self.on(who) is not None

    def TurnsLeft(self, who: Actor) -> int:
        borne = self.on(who)
        return 0 if borne is None else borne.turns

    def Describe(self, settings: Table) -> str:
        return line(self.fight.scripting.call(self.script["GetDescription"], settings, otherwise=""))


class Borne:
    """An effect on *bearer*, caused by *source*."""

    def __init__(self, kind: EffectKind, bearer: Actor, source: Actor, turns: float, settings: Table) -> None:
        self.kind = kind
        self.bearer = bearer
        self.source = source
        self.settings = settings
        self.turns = whole(turns, 0, MOST_TURNS)
        self.count = 0

    def __setattr__(self, name: str, value: Any) -> None:  # noqa: ANN401 - of the attribute's own type
        """Scripts assign to `turns` and `count`; any number is brought within bounds."""
        if name == "turns":
            value = whole(value, 0, MOST_TURNS)
        elif name == "count":
            value = whole(value, -MOST_COUNTED, MOST_COUNTED)
        object.__setattr__(self, name, value)

    def End(self) -> None:
        self.turns = 0

    def hook(self, name: str, *arguments: object, otherwise: object = None) -> Any:  # noqa: ANN401 - the hook's type is in the interface
        """The result of the hook *name*, if the effect has it."""
        hook = self.kind.script[name]
        return self.kind.fight.scripting.call(hook, self, self.settings, *arguments, otherwise=otherwise)

    def end(self) -> None:
        """Remove it from its bearer."""
        if self in self.bearer.effects:
            self.bearer.effects.remove(self)
            self.hook("OnDeactivate")
