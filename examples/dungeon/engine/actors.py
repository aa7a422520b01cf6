"""The actors: heroes, monsters, and summoned helpers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engine.damage import MOST_HARM, Damage
from engine.effects import Borne
from engine.given_values import Coord, GivenPlace, line, whole

if TYPE_CHECKING:
    from engine.fight import Fight

MOST_ENERGY, MOST_ARMOUR, MOST_POWER, MOST_STUNNED = 100, 20, 20, 3
MOST_REMEMBERED = 20
Body = Callable[[Any], None]


class Actor:
    """An actor at *place*, on *side*."""

    def __init__(self, fight: Fight, name: str, side: str, place: Coord, health: int) -> None:
        self.fight = fight
        self.name = line(name) or "nobody"
        self.side = side
        self.place = place
        self.health = self.most_health = health
        self.energy = 30
        self.armour = 0
        self.power = 0
        self.stunned = 0
        self.effects: list[Borne] = []
        self.talents: list[str] = []
        self.resting: dict[str, int] = {}
        self._remembered: dict[str, float] = {}

    def __setattr__(self, name: str, value: Any) -> None:  # noqa: ANN401 - of the attribute's own type
        """Scripts assign to `armour` and `power`; any number is brought within bounds."""
        if name == "armour":
            value = whole(value, 0, MOST_ARMOUR)
        elif name == "power":
            value = whole(value, -MOST_POWER, MOST_POWER)
        object.__setattr__(self, name, value)

    def IsAlive(self) -> bool:
        return self.health > 0

    def Is(self, other: Actor) -> bool:
        return self is other

    def IsEnemyOf(self, other: Actor) -> bool:
        return self.side != other.side

    def Place(self) -> Coord:
        return self.place

    def DistanceTo(self, other: Actor) -> int:
        return self.place.distance(other.place)

    def DistanceToPlace(self, place: GivenPlace) -> int:
        return self.place.distance(Coord.of(place))

    def CanSee(self, place: GivenPlace) -> bool:
        return self.fight.level.is_seen(self.place, Coord.of(place))

    # Harm and healing.

    def Harm(self, damage: Damage, by: Actor) -> int:
        if not self.IsAlive():
            return 0
        damage = damage.Of(damage.amount + by.power)
        for borne in list(by.effects):
            damage = damage.Of(borne.hook("OnDamageDone", damage, otherwise=damage.amount))
        for borne in list(self.effects):
            damage = damage.Of(borne.hook("OnDamageReceived", damage, otherwise=damage.amount))
        amount = damage.amount - (self.armour if damage.kind == "blow" else 0)
        return self.lose(whole(amount, 0, MOST_HARM), damage.kind)

    def lose(self, amount: int, why: str) -> int:
        """Lose health, and fall if none is left."""
        taken = min(amount, self.health)
        self.health -= taken
        if taken:
            self.fight.happened(f"{self.name} −{taken} {why}", self)
        if taken and not self.health:
            self.fight.happened(f"{self.name} falls", self)
            for borne in list(self.effects):
                borne.hook("OnDeath")
            self.effects.clear()
        return taken

    def Heal(self, amount: float) -> int:
        if not self.IsAlive():
            return 0
        healed = whole(amount, 0, self.most_health - self.health)
        self.health += healed
        if healed:
            self.fight.happened(f"{self.name} +{healed}", self)
        return healed

    def GainEnergy(self, amount: float) -> None:
        self.energy = whole(self.energy + whole(amount, 0, MOST_ENERGY), 0, MOST_ENERGY)

    def SpendEnergy(self, amount: float) -> bool:
        wanted = whole(amount, 0, MOST_ENERGY + 1)
        if wanted > self.energy:
            return False
        self.energy -= wanted
        return True

    # Movement.

    def Jump(self, to: GivenPlace) -> bool:
        return self.go(Coord.of(to))

    def go(self, place: Coord) -> bool:
        """Move to *place*, if that is free."""
        if not self.IsAlive() or not self.fight.level.is_free(place):
            return False
        before, self.place = self.place, place
        for borne in list(self.effects):
            borne.hook("OnMove", before)
        return True

    def PushFrom(self, place: GivenPlace, steps: float) -> int:
        from_ = Coord.of(place)
        away = Coord(2 * self.place.x - from_.x, 2 * self.place.y - from_.y)
        beyond = Coord(
            self.place.x + 20 * (away.x - self.place.x), self.place.y + 20 * (away.y - self.place.y)
        )
        return self._drift(beyond, steps)

    def PullTo(self, place: GivenPlace, steps: float) -> int:
        return self._drift(Coord.of(place), steps)

    def _drift(self, target: Coord, steps: float) -> int:
        for done in range(whole(steps, 0, 5)):
            if self.place == target or not self.go(self.place.toward(target, 1)):
                return done
        return whole(steps, 0, 5)

    def SwapWith(self, other: Actor) -> None:
        if self.IsAlive() and other.IsAlive():
            self.place, other.place = other.place, self.place

    def Stun(self, turns: float) -> None:
        self.stunned = max(self.stunned, whole(turns, 0, MOST_STUNNED))

    # Knowledge, and other actors.

    def Say(self, text: str) -> None:
        if line(text):
            self.fight.happened(f"{self.name}: “{line(text)}”", self)

    def CountEffects(self) -> int:
        return len(self.effects)

    def EndEffects(self) -> int:
        ending = list(self.effects)
        for borne in ending:
            borne.end()
        return len(ending)

    def Remember(self, name: str, value: float) -> None:
        if name in self._remembered or len(self._remembered) < MOST_REMEMBERED:
            self._remembered[name] = value

    def Recall(self, name: str) -> float:
        return self._remembered.get(name, 0)

    def enemies(self) -> list[Actor]:
        """The living actors of the other side, the nearest first."""
        return sorted((other for other in self.fight.living() if self.IsEnemyOf(other)), key=self.DistanceTo)

    def friends(self) -> list[Actor]:
        """The other living actors of this side, the nearest first."""
        living = (other for other in self.fight.living() if not self.IsEnemyOf(other) and other is not self)
        return sorted(living, key=self.DistanceTo)

    def WithNearestEnemy(self, body: Body) -> None:
        self.fight.scripting.each(body, self.enemies()[:1])

    def WithNearestFriend(self, body: Body) -> None:
        self.fight.scripting.each(body, self.friends()[:1])

    def WithWeakestFriend(self, body: Body) -> None:
        everybody = sorted((self, *self.friends()), key=lambda friend: friend.health / friend.most_health)
        self.fight.scripting.each(body, everybody[:1])

    def ForEachEnemyWithin(self, distance: float, body: Body) -> None:
        self.fight.scripting.each(
            body, [other for other in self.enemies() if self.DistanceTo(other) <= distance]
        )

    def ForEachFriendWithin(self, distance: float, body: Body) -> None:
        self.fight.scripting.each(
            body, [other for other in self.friends() if self.DistanceTo(other) <= distance]
        )
