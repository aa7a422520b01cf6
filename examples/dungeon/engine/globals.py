"""The globals of the interface besides effects and the level: the game, places, numbers, texts."""

from __future__ import annotations

from math import floor, isfinite, sqrt
from typing import TYPE_CHECKING

from engine.actors import Actor, Body
from engine.given_values import Coord, GivenPlace, line, whole

if TYPE_CHECKING:
    from engine.fight import Fight

FURTHEST = 10**9
SUMMONED_HEALTH = 12
MOST_LIVING, MOST_SUMMONED = 14, 12


class Game:
    """The fight, for scripts."""

    def __init__(self, fight: Fight) -> None:
        self.fight = fight
        self._summoned = 0

    def Round(self) -> int:
        return self.fight.round

    def Tell(self, text: str) -> None:
        if line(text):
            self.fight.happened(line(text), None)

    def ForEachActor(self, body: Body) -> None:
        self.fight.scripting.each(body, self.fight.living())

    def CountFriendsOf(self, who: Actor) -> int:
        return len(who.friends())

    def CountEnemiesOf(self, who: Actor) -> int:
        return len(who.enemies())

    def Summon(self, name: str, by: Actor, at: GivenPlace, body: Body) -> None:
        fight, place = self.fight, Coord.of(at)
        if (
            len(fight.living()) < MOST_LIVING
            and self._summoned < MOST_SUMMONED
            and fight.level.is_free(place)
        ):
            self._summoned += 1
            helper = Actor(fight, name, by.side, place, SUMMONED_HEALTH)
            fight.actors.append(helper)
            fight.happened(f"{by.name} calls {helper.name}", by)
            fight.scripting.each(body, [helper])


class Coords:
    """Places."""

    def At(self, x: float, y: float) -> Coord:
        return Coord.of({"x": x, "y": y})

    def Same(self, a: GivenPlace, b: GivenPlace) -> bool:
        return Coord.of(a) == Coord.of(b)

    def Distance(self, a: GivenPlace, b: GivenPlace) -> int:
        return Coord.of(a).distance(Coord.of(b))

    def Toward(self, from_: GivenPlace, to: GivenPlace, steps: float) -> Coord:
        return Coord.of(from_).toward(Coord.of(to), whole(steps, 0, 50))


class Math:
    """Numbers. NaN and infinities become 0."""

    def __init__(self, fight: Fight) -> None:
        self._random = fight.random

    def Floor(self, number: float) -> int:
        return floor(number) if isfinite(number) else 0

    def Abs(self, number: float) -> float:
        return abs(number)

    def Root(self, number: float) -> float:
        return sqrt(number) if isfinite(number) and number > 0 else 0

    def Min(self, a: float, b: float) -> float:
        return min(a, b)

    def Max(self, a: float, b: float) -> float:
        return max(a, b)

    def Clamp(self, value: float, least: float, most: float) -> float:
        return max(least, min(value, most))

    def Random(self, least: float, most: float) -> int:
        low, high = whole(least, -FURTHEST, FURTHEST), whole(most, -FURTHEST, FURTHEST)
        return self._random.randint(min(low, high), max(low, high))

    def Chance(self, percent: float) -> bool:
        return self._random.random() * 100 < percent


class Strings:
    """Texts."""

    def Number(self, number: float) -> str:
        return f"{number:.6g}"

    def Upper(self, text: str) -> str:
        return text.upper()

    def Length(self, text: str) -> int:
        return len(text)

    def Count(self, number: float, what: str) -> str:
        return f"{number:.6g} {what}{'' if number == 1 else 's'}"
