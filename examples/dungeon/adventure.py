"""Lets a model put an adventure together, and plays it: `python examples/dungeon/adventure.py --seed 3`.

An adventure is JSON under a schema: rooms with monsters, and heroes. The schema names the talents and effects
of the library, so that only those can be chosen. Each room is a fight for the heroes who are still alive.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from engine.fight import Fight, Member
from engine.library import Library, load_library

from fimlsp import DecodeSettings, Engine, generate, json_schema, load_model
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import FimModel

TEXT = {"type": "string", "pattern": r"^[A-Z][a-z ',.-]{4,60}$"}
NAME = {"type": "string", "pattern": "^[A-Z][a-z]{2,11}$"}
LEAST_HEALTH, MOST_HEALTH = 20, 60
REQUEST = (
    "Write an adventure for this dungeon as JSON: a title, an opening, heroes, and rooms with monsters. "
    "Choose talents and effects that suit them."
)


def adventure_schema(library: Library) -> dict[str, Any]:
    """The schema of adventures with the talents and effects of *library*."""
    names = {
        kind: [script.name for script in library.scripts if script.kind == kind]
        for kind in ("talent", "effect")
    }
    member = _object(
        name=NAME,
        health={"type": "integer", "minimum": LEAST_HEALTH, "maximum": MOST_HEALTH},
        talents={"type": "array", "items": {"enum": names["talent"]}, "minItems": 1, "maxItems": 3},
        effects={"type": "array", "items": {"enum": names["effect"]}, "maxItems": 1},
    )
    room = _object(name=TEXT, monsters={"type": "array", "items": member, "minItems": 1, "maxItems": 4})
    return _object(
        title=TEXT,
        opening=TEXT,
        heroes={"type": "array", "items": member, "minItems": 2, "maxItems": 4},
        rooms={"type": "array", "items": room, "minItems": 1, "maxItems": 3},
    )


def _object(**properties: object) -> dict[str, Any]:
    """The schema of objects with exactly these *properties*."""
    required = list(properties)
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def write_adventure(model: FimModel, library: Library, seed: int, tokens: int) -> dict[str, Any]:
    """An adventure by *model*, which has read the talents and effects of *library*."""
    # compact, as small models drift into spaces
    language = json_schema(adventure_schema(library), compact=True)
    start = Engine(language).document(b"").middle(0, 0).start
    assert start is not None
    scripts = "".join(f"{script.kind} {script.name}\n" for script in library.scripts)
    settings = DecodeSettings(tokens=tokens, temperature=0.7, seed=seed, stop_when=lambda _: True)
    if model.chat is not None:
        written = generate(model, b"", start, settings, context=scripts.encode(), instructions=REQUEST)
    else:
        written = generate(model, f"{scripts}\n{REQUEST}\nJSON:\n".encode(), start, settings)
    adventure: dict[str, Any] = json.loads(written.text)
    return adventure


def read_adventure(path: Path) -> Mapping[str, Any]:
    """The adventure that was saved at *path*."""
    try:
        adventure: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise click.ClickException(f"Cannot play {path}: {error}. Give it a file of --save.") from error
    return adventure


def played(library: Library, adventure: Mapping[str, Any], seed: int) -> Iterator[str]:
    """The lines of an *adventure* as it is played: its rooms until one side is left."""
    yield f"{adventure['title']}: {adventure['opening']}"
    heroes = _members(adventure["heroes"])
    for number, room in enumerate(adventure["rooms"]):
        yield f"{room['name']}: {', '.join(monster['name'] for monster in room['monsters'])}"
        fight = Fight(library, seed + number, heroes, _members(room["monsters"]))
        for _ in fight.turns():
            pass
        yield from (f"  {event.text}" for event in fight.events)
        yield from (f"  stopped: {reason}" for reason in fight.stopped)
        alive = {actor.name for actor in fight.living() if actor.side == "heroes"}
        heroes = tuple(hero for hero in heroes if hero.name in alive)
        if fight.winner() != "heroes":
            yield f"{fight.winner()} stay in the dungeon"
            return
    yield f"{', '.join(hero.name for hero in heroes)} return"


def _members(described: Sequence[Mapping[str, Any]]) -> tuple[Member, ...]:
    """The members of a side. Equal names are numbered."""
    members = list[Member]()
    for one in described:
        same = sum(member.name.partition(" ")[0] == one["name"] for member in members)
        name = f"{one['name']} {same + 1}" if same else one["name"]
        members.append(Member(name, one["health"], tuple(one["talents"]), tuple(one["effects"])))
    return tuple(members)


@click.command(help=__doc__)
@click.option("--seed", default=1, show_default=True, help="Of the draws and the fights.")
@click.option("--tokens", default=400, show_default=True, help="Tokens of an adventure, at most.")
@click.option("--model", default=None, help="As `fimlsp generate --model`; the bundled one by default.")
@click.option("--play", type=click.Path(exists=True, path_type=Path), help="A saved adventure to play.")
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="File for the adventure.")
def main(seed: int, tokens: int, model: str | None, play: Path | None, save: Path | None) -> None:
    """Write or read an adventure, and play it."""
    library = load_library()
    if play is not None:
        adventure = read_adventure(play)
    else:
        try:
            adventure = write_adventure(load_model(model), library, seed, tokens)
        except ModelError as error:
            raise click.ClickException(str(error)) from error
    if save is not None:
        save.write_text(json.dumps(adventure, indent=1) + "\n", "utf-8")
    for line in played(library, adventure, seed):
        click.echo(line)


if __name__ == "__main__":
    main()
