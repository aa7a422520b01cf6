"""Lets a model write many effects and talents and runs all their hooks: `python examples/dungeon/judge.py`.

Whatever the weights, each script has to pass the checker, and none of its hooks may be stopped.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from shutil import copy
from time import process_time
from typing import Any

import click
import numpy as np
from engine.actors import Actor
from engine.damage import Damage
from engine.fight import Fight
from engine.library import KINDS, Library, load_library
from generate import write_script
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from fimlsp import load_model
from fimlsp.models.loading import BUNDLED, FimModel

HOOKS = ("OnActivate", "OnTurnStart", "OnTurnEnd", "OnDeactivate", "OnDeath")
TURNS = 16


def random_model(folder: Path, seed: int) -> FimModel:
    """The bundled model with random weights, and without its cache."""
    for path in BUNDLED.glob("*.json"):
        copy(path, folder)
    rng = np.random.default_rng(seed)
    for path in BUNDLED.glob("*.safetensors"):
        weights = load_file(path)
        drawn = {name: _drawn(rng, matrix) for name, matrix in weights.items()}
        save_file(drawn, folder / path.name)
    return load_model(str(folder), uses_buffer=False)


def _drawn(rng: np.random.Generator, matrix: NDArray[Any]) -> NDArray[Any]:
    """Random weights of the kind of *matrix*: whole numbers of 8 bits, their scales, or plain numbers."""
    if matrix.dtype == np.int8:
        return rng.integers(-127, 128, matrix.shape, dtype=np.int8)
    spread = 0.05 / 127 if matrix.dtype == np.float32 else 0.05
    return (np.abs(rng.normal(0, spread, matrix.shape))).astype(matrix.dtype)


def judged(library: Library, kind: str, text: str, folder: Path, seed: int) -> list[str]:
    """The faults of the script *text*, or the reasons for which hooks were stopped in a fight with it."""
    path = folder / next(name for name, known in KINDS.items() if known == kind) / "judged.slua"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    with_it = library.with_scripts([path])
    if with_it.faults:
        return list(with_it.faults)
    fight = Fight(with_it, seed)
    settings = fight.scripting.settings("judged") if kind == "effect" else None
    for number, _ in enumerate(fight.turns()):
        for actor in fight.living():
            if fight.winner() is not None:
                return fight.stopped
            if kind == "talent":
                fight.scripting.call(fight.talents["judged"].script["Do"], actor, actor.enemies()[0].place)
                fight.scripting.call(fight.talents["judged"].script["GetDescription"])
            elif settings is not None:
                _call_hooks(fight, actor, settings)
        if number == TURNS:
            break
    return fight.stopped


def _call_hooks(fight: Fight, actor: Actor, settings: object) -> None:
    kind = fight.effects["judged"]
    kind.Apply(actor, actor, 3, settings)
    kind.Describe(settings)
    for borne in [borne for borne in actor.effects if borne.kind is kind]:
        for hook in HOOKS:
            borne.hook(hook)
        borne.hook("OnMove", actor.place)
        for hook in ("OnDamageReceived", "OnDamageDone"):
            borne.hook(hook, Damage(2, "fire"))


@click.command(help=__doc__)
@click.option("--scripts", default=200, show_default=True, help="Of each kind.")
@click.option("--tokens", default=200, show_default=True, help="Tokens of a script, at most.")
@click.option("--weights", type=click.Choice(["bundled", "random"]), default="bundled", show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(scripts: int, tokens: int, weights: str, seed: int) -> None:
    """Test; the exit status is 1 if a script fails."""
    library, counted, begun = load_library(generated=False), Counter[str](), process_time()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = load_model() if weights == "bundled" else random_model(folder, seed)
        for number in range(scripts):
            for kind in KINDS.values():
                text = write_script(model, library, kind, "judged", seed + number, tokens)
                wrong = judged(library, kind, text, folder, seed + number)
                counted[kind] += 1
                counted["bytes"] += len(text)
                counted["failures"] += bool(wrong)
                if wrong:
                    click.echo(f"{kind} {seed + number}: {wrong[0]}\n{text}", err=True)
    counts = ", ".join(f"{name}: {counted[name]:,}" for name in (*KINDS.values(), "bytes", "failures"))
    click.echo(f"{weights} weights; {counts}; {process_time() - begun:.0f} s of CPU time")
    raise SystemExit(counted["failures"] > 0)


if __name__ == "__main__":
    main()
