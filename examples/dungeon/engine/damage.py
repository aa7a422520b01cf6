"""Harm of several kinds."""

from __future__ import annotations

from dataclasses import dataclass

from engine.given_values import whole

MOST_HARM = 60


@dataclass(frozen=True)
class Damage:
    """Harm, before armour."""

    amount: int
    kind: str

    def Of(self, amount: float) -> Damage:
        return Damage(whole(amount, 0, MOST_HARM), self.kind)


class DamageKinds:
    """Makes harm."""

    def Blow(self, amount: float) -> Damage:
        return Damage(0, "blow").Of(amount)

    def Fire(self, amount: float) -> Damage:
        return Damage(0, "fire").Of(amount)

    def Frost(self, amount: float) -> Damage:
        return Damage(0, "frost").Of(amount)

    def Venom(self, amount: float) -> Damage:
        return Damage(0, "venom").Of(amount)

    def Light(self, amount: float) -> Damage:
        return Damage(0, "light").Of(amount)
