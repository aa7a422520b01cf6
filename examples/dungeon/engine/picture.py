"""Draws a fight for the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from engine.actors import Actor
from engine.fight import Event, Fight
from engine.given_values import Coord

STYLES = {"heroes": "bold green", "monsters": "bold red", "": "cyan"}
LINES = 12
BAR = 12


def picture(fight: Fight, title: str) -> RenderableType:
    """The level, the actors on it, and the last events."""
    top = Table.grid(padding=(0, 1))
    top.add_row(Panel(_level(fight), title=title, border_style="dim"), _everybody(fight))
    return Group(top, Panel(_events(fight), title="what happened, turn by turn", border_style="dim"))


def _level(fight: Fight) -> Text:
    rows = groupby(fight.level.places, key=lambda place: place.y)
    return Text("\n").join(_row_of_level(fight, row) for _, row in rows)


def _row_of_level(fight: Fight, places: Iterable[Coord]) -> Text:
    text = Text()
    for style, signs in groupby((_sign(fight, place) for place in places), key=lambda sign: sign[1]):
        text.append("".join(sign for sign, _ in signs), style)
    return text


def _sign(fight: Fight, place: Coord) -> tuple[str, str]:
    if place in fight.level.walls:
        return "▒", "dim"
    standing = fight.level.standing(place)
    if standing:
        return standing[0].name[0], STYLES[standing[0].side]
    fallen = any(actor.place == place for actor in fight.actors)
    return ("†", "dim") if fallen else ("·", "grey30")


def _everybody(fight: Fight) -> Table:
    table = Table(box=None, padding=(0, 1), header_style="dim")
    for column in ("who", "health", "", "energy", "effects", "talents"):
        width = {"effects": 34}.get(column)
        right = column in ("", "energy")
        table.add_column(column, justify="right" if right else "left", no_wrap=True, min_width=width)
    for actor in fight.actors:
        table.add_row(*_row(fight, actor))
    return table


def _row(fight: Fight, actor: Actor) -> list[Text]:
    full = round(BAR * actor.health / actor.most_health)
    colour = "green" if full * 2 > BAR else "yellow" if full * 4 > BAR else "red"
    bar = Text("━" * full, style=colour) + Text("━" * (BAR - full), style="grey23")
    effects = ", ".join(
        f"{borne.kind.title}{'*' if borne.kind.is_generated else ''} {borne.turns}" for borne in actor.effects
    )
    talents = [fight.talents[name] for name in actor.talents]
    known = ", ".join(f"{talent.title}{'*' if talent.is_generated else ''}" for talent in talents)
    style = STYLES[actor.side] if actor.IsAlive() else "strike dim"
    told = Text(effects, style="magenta"), Text(known, style="dim")
    return [Text(actor.name, style=style), bar, Text(str(actor.health)), Text(str(actor.energy)), *told]


def _events(fight: Fight) -> Text:
    """A line for each turn, with all that happened in it."""
    turns = [list(events) for _, events in groupby(fight.events, key=lambda event: event.turn)]
    return Text("\n").join(Text(" · ").join(map(_told, events)) for events in turns[-LINES:])


def _told(event: Event) -> Text:
    return Text(event.text, STYLES[event.side].removeprefix("bold "))
