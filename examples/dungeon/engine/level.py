"""The level: its walls, the places of actors, and lines of sight."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from engine.actors import Actor, Body
from engine.given_values import Coord, GivenPlace, whole

if TYPE_CHECKING:
    from engine.fight import Fight

WIDTH, HEIGHT = 26, 11
PILLARS = 14
MOST_WALLS = 60


class Level:
    """A hall with pillars."""

    def __init__(self, fight: Fight) -> None:
        self.fight = fight
        self.width, self.height = WIDTH, HEIGHT
        self.places = [Coord(x, y) for y in range(1, HEIGHT + 1) for x in range(1, WIDTH + 1)]
        self.walls: set[Coord] = set()
        while len(self.walls) < PILLARS:
            self.walls.add(Coord(fight.random.randint(5, WIDTH - 4), fight.random.randint(2, HEIGHT - 1)))

    def is_inside(self, place: Coord) -> bool:
        """True if *place* is on the level."""
        return 1 <= place.x <= self.width and 1 <= place.y <= self.height

    def is_free(self, place: Coord) -> bool:
        """True if an actor could stand at *place*, and none does."""
        return self.is_inside(place) and place not in self.walls and not self.standing(place)

    def standing(self, place: Coord) -> list[Actor]:
        """The actor at *place*, as a list of one or none."""
        return [actor for actor in self.fight.living() if actor.place == place]

    def _taken(self) -> set[Coord]:
        """The places of walls and actors."""
        return self.walls | {actor.place for actor in self.fight.living()}

    def is_seen(self, from_: Coord, to: Coord) -> bool:
        """True if no wall lies between two places."""
        return self.is_inside(to) and not any(place in self.walls for place in from_.line(to))

    def step_towards(self, from_: Coord, to: Coord) -> Coord | None:
        """The first step of a shortest path to a place beside *to*; None if there is no path."""
        before: dict[Coord, Coord] = {}
        taken = self._taken()
        waiting = deque([from_])
        while waiting:
            place = waiting.popleft()
            if place.distance(to) <= 1:
                while before.get(place, from_) != from_:
                    place = before[place]
                return place if place != from_ else None
            for following in self._around(place):
                if following in before or following == from_ or following in taken:
                    continue
                if self.is_inside(following):
                    before[following] = place
                    waiting.append(following)
        return None

    @staticmethod
    def _around(place: Coord, distance: int = 1) -> list[Coord]:
        across = range(-distance, distance + 1)
        return [Coord(place.x + x, place.y + y) for y in across for x in across]

    # Queries of scripts.

    def IsFree(self, place: GivenPlace) -> bool:
        return self.is_free(Coord.of(place))

    def IsWall(self, place: GivenPlace) -> bool:
        return Coord.of(place) in self.walls

    def BuildWall(self, at: GivenPlace) -> bool:
        place = Coord.of(at)
        if not self.is_free(place) or len(self.walls) >= MOST_WALLS:
            return False
        self.walls.add(place)
        return True

    def BreakWall(self, at: GivenPlace) -> bool:
        place = Coord.of(at)
        was_there = place in self.walls
        self.walls.discard(place)
        return was_there

    def RandomFreePlace(self) -> Coord:
        taken = self._taken()
        number = self.fight.random.choice(range(len(self.places) - len(taken)))
        for before in sorted((place.y - 1) * WIDTH + place.x - 1 for place in taken):
            number += before <= number
        return self.places[number]

    def FreePlaceBeside(self, place: GivenPlace) -> Coord:
        around = [beside for beside in self._around(Coord.of(place)) if self.is_free(beside)]
        return around[0] if around else self.RandomFreePlace()

    def WithActorAt(self, place: GivenPlace, body: Body) -> None:
        self.fight.scripting.each(body, self.standing(Coord.of(place)))

    def WithFirstOnLine(self, from_: GivenPlace, to: GivenPlace, body: Body) -> None:
        met = [actor for place in self._line(from_, to) for actor in self.standing(place)]
        self.fight.scripting.each(body, met[:1])

    def ForEachActorWithin(self, place: GivenPlace, distance: float, body: Body) -> None:
        self.fight.scripting.each(body, self._within(place, distance))

    def ForEachPlaceWithin(self, place: GivenPlace, distance: float, body: Body) -> None:
        around = self._around(Coord.of(place), whole(distance, 0, 5))
        self.fight.scripting.each(body, [beside for beside in around if self.is_inside(beside)])

    def ForEachPlaceOnLine(self, from_: GivenPlace, to: GivenPlace, body: Body) -> None:
        self.fight.scripting.each(body, self._line(from_, to))

    def CountActorsWithin(self, place: GivenPlace, distance: float) -> int:
        return len(self._within(place, distance))

    def _within(self, place: GivenPlace, distance: float) -> list[Actor]:
        center = Coord.of(place)
        return [actor for actor in self.fight.living() if actor.place.distance(center) <= distance]

    def _line(self, from_: GivenPlace, to: GivenPlace) -> list[Coord]:
        """The places of the level between two others."""
        places = []
        for place in Coord.of(from_).line(Coord.of(to)):
            if not self.is_inside(place):
                break
            places.append(place)
        return places
