"""A fight of two sides, turn by turn, with the talents and effects that scripts have registered."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from types import SimpleNamespace

from engine.actors import Actor
from engine.damage import Damage, DamageKinds
from engine.effects import EffectKind
from engine.given_values import Coord, Table, line, whole
from engine.globals import Coords, Game, Math, Strings
from engine.level import Level
from engine.library import Library, Script
from engine.scripting import Scripting


@dataclass(frozen=True)
class Member:
    """A member of a side. Without *talents* it is dealt some; *effects* are on it at the start."""

    name: str
    health: int
    talents: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()


HEROES = (Member("Ada", 46), Member("Boyle", 40), Member("Curie", 36), Member("Darwin", 40))
MONSTERS = (Member("ghoul", 38), Member("imp", 30), Member("ogre", 54), Member("wraith", 40))
COLD_FROM, LAST_ROUND = 30, 60
BLOW, ENERGY_GAINED = 7, 8
FIRST_TURNS = 12
MOST_COST, MOST_RANGE, MOST_REST = 100, 30, 20


@dataclass(frozen=True)
class Talent:
    """A talent that a script has registered."""

    name: str
    title: str
    cost: int
    range: int
    rest: int
    helps: bool
    script: Table
    is_generated: bool

    @staticmethod
    def of(script: Script, registered: Table) -> Talent:
        """The talent that *script* has *registered*."""
        return Talent(
            script.name,
            line(registered["title"]) or script.name,
            whole(registered["cost"], 0, MOST_COST),
            whole(registered["range"], 1, MOST_RANGE),
            whole(registered["rest"], 0, MOST_REST),
            registered["helps"],
            registered,
            script.is_generated,
        )


@dataclass(frozen=True)
class Event:
    """An event of a turn: a text, and the side that it belongs to."""

    turn: int
    text: str
    side: str


class Fight:
    """A fight of *heroes* and *monsters* with the scripts of *library*; *seed* determines all chance."""

    def __init__(
        self,
        library: Library,
        seed: int = 0,
        heroes: Sequence[Member] = HEROES,
        monsters: Sequence[Member] = MONSTERS,
    ) -> None:
        self.random = random.Random(seed)
        self.round = 0
        self._turns = 0
        self.actors: list[Actor] = []
        self.events: list[Event] = []
        self.used: dict[str, int] = {}
        self.stopped: list[str] = []
        self.effects: dict[str, EffectKind] = {}
        self.talents: dict[str, Talent] = {}
        self.level = Level(self)
        self._kinds = SimpleNamespace()
        values = {
            "g_effects": self._kinds,
            "g_damage": DamageKinds(),
            "g_level": self.level,
            "g_coord": Coords(),
            "g_game": Game(self),
            "g_math": Math(self),
            "g_str": Strings(),
        }
        self.scripting = Scripting(library, values, self.stopped.append)
        self.scripting.run_all(self._register)
        members = [*self._gather("heroes", heroes, 2)]
        members += self._gather("monsters", monsters, self.level.width - 1)
        self._begin_under_effects(members)

    def _register(self, script: Script, registered: Table) -> None:
        if script.kind == "effect":
            kind = EffectKind(self, script.name, registered, is_generated=script.is_generated)
            self.effects[script.name] = kind
            setattr(self._kinds, script.name, kind)
        else:
            self.talents[script.name] = Talent.of(script, registered)

    def _gather(self, side: str, members: Sequence[Member], column: int) -> Iterator[tuple[Actor, Member]]:
        """Give each member its talents, or two written ones and a generated one, as far as there are any."""
        written = self._deck([name for name, talent in self.talents.items() if not talent.is_generated])
        generated = self._deck([name for name, talent in self.talents.items() if talent.is_generated])
        for row, member in enumerate(members):
            actor = Actor(self, member.name, side, Coord(column, 2 + 2 * row), member.health)
            actor.talents += member.talents or (*islice(written, 2), *islice(generated, 1))
            self.actors.append(actor)
            yield actor, member

    def _begin_under_effects(self, members: Sequence[tuple[Actor, Member]]) -> None:
        """Put its effects on every actor; where nobody has any, a generated one, if there are any."""
        kinds = self._deck([name for name, kind in self.effects.items() if kind.is_generated])
        if any(member.effects for _, member in members):
            chosen = [(actor, name) for actor, member in members for name in member.effects]
        else:
            chosen = [(actor, name) for (actor, _), name in zip(members, kinds, strict=False)]
        for actor, name in chosen:
            settings = self.scripting.settings(name)
            if settings is not None:
                self.effects[name].Apply(actor, actor, FIRST_TURNS, settings)

    def _deck(self, names: list[str]) -> Iterator[str]:
        """*names* in a random order, repeated forever."""
        self.random.shuffle(names)
        return cycle(names)

    # Queries.

    def living(self) -> list[Actor]:
        """The living actors."""
        return [actor for actor in self.actors if actor.IsAlive()]

    def winner(self) -> str | None:
        """The side that is left, or has more health when time is up; None during the fight."""
        sides = {actor.side for actor in self.living()}
        if len(sides) > 1 and self.round < LAST_ROUND:
            return None
        if len(sides) == 1:
            return sides.pop()
        health = {side: sum(actor.health for actor in self.living() if actor.side == side) for side in sides}
        return "nobody" if len(set(health.values())) < 2 else max(health, key=health.__getitem__)

    def happened(self, text: str, who: Actor | None) -> None:
        """Record an event of *who*."""
        self.events.append(Event(self._turns, text, who.side if who is not None else ""))

    # Turns.

    def turns(self) -> Iterator[Actor]:
        """Fight to the end; yields each actor after its turn."""
        while self.winner() is None:
            self.round += 1
            for actor in list(self.actors):
                if self.winner() is not None:
                    return
                if actor.IsAlive():
                    self._turn(actor)
                    yield actor
            for actor in self.living() if self.round > COLD_FROM else ():
                actor.lose(self.round - COLD_FROM, "cold")
            self._turns += 1

    def _turn(self, actor: Actor) -> None:
        self._turns += 1
        for borne in list(actor.effects):
            borne.hook("OnTurnStart")
        if actor.stunned:
            actor.stunned -= 1
        elif actor.IsAlive():
            self._act(actor)
        actor.GainEnergy(ENERGY_GAINED)
        actor.resting = {name: turns - 1 for name, turns in actor.resting.items() if turns > 1}
        for borne in list(actor.effects):
            borne.hook("OnTurnEnd")
            borne.turns -= 1
            if borne.turns <= 0:
                borne.end()

    def _act(self, actor: Actor) -> None:
        """Use a talent, strike, or approach an enemy."""
        enemies = actor.enemies()
        if not enemies:
            return
        possible = [(talent, target) for talent, target in self._possible(actor) if target is not None]
        if possible and self.random.random() < 0.7:
            self._use(actor, *self.random.choice(possible))
        elif actor.DistanceTo(enemies[0]) <= 1:
            enemies[0].Harm(Damage(BLOW, "blow"), actor)
        else:
            step = self.level.step_towards(actor.place, enemies[0].place)
            if step is not None:
                actor.go(step)

    def _possible(self, actor: Actor) -> Iterator[tuple[Talent, Actor | None]]:
        for talent in (self.talents[name] for name in actor.talents):
            hurt = (
                friend for friend in (actor, *actor.friends()) if friend.health * 4 < friend.most_health * 3
            )
            others = hurt if talent.helps else actor.enemies()
            reached = (
                other
                for other in others
                if actor.DistanceTo(other) <= talent.range and actor.CanSee(other.place)
            )
            if talent.cost <= actor.energy and talent.name not in actor.resting:
                yield talent, next(reached, None)

    def _use(self, actor: Actor, talent: Talent, target: Actor) -> None:
        actor.SpendEnergy(talent.cost)
        actor.resting[talent.name] = talent.rest + 1
        self.used[talent.name] = self.used.get(talent.name, 0) + 1
        mark = "*" if talent.is_generated else ""
        self.happened(f"{actor.name} uses {talent.title}{mark}", actor)
        self.scripting.call(talent.script["Do"], actor, target.place)
