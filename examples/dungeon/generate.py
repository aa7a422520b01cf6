"""Lets a model write effects and talents: `python examples/dungeon/generate.py --effects 4 --talents 6`.

The model reads some of the existing scripts and continues with a new one, which the constraint keeps
valid. The new scripts go to a folder from which a fight takes its scripts; each may use the earlier ones.
"""

from __future__ import annotations

import random
from pathlib import Path

import click
from engine.library import HERE, KINDS, Library, load_library

from fimlsp import DecodeSettings, load_model
from fimlsp.languages.slua.incremental.statements import begin
from fimlsp.languages.slua.tidy import Tidy
from fimlsp.models.completion import generate
from fimlsp.models.loading import FimModel

EXAMPLES = 3
NAMES = {
    "effect": ("haze", "omen", "murmur", "rust", "echo", "tremor", "gloom", "spark", "weight", "itch"),
    "talent": ("gambit", "surge", "hex", "feint", "chant", "leap", "snare", "volley", "ward", "whim"),
}


def write_script(
    model: FimModel, library: Library, kind: str, name: str, seed: int = 0, tokens: int = 300
) -> str:
    """A new script of *kind* by *model*, which has read some of *library*. It is valid whatever the model.

    It starts like one of these, with *name* as its title.
    """
    known = [script.text for script in library.scripts if script.kind == kind and not script.is_generated]
    random.Random(seed).shuffle(known)
    beginning = _beginning(known[-1], name)
    state = begin(library.interface, kind).feed(beginning)
    assert state is not None, "every script of this kind may start so"
    start = Tidy.after(state, beginning)
    read = "\n".join(known[:EXAMPLES]).encode() + b"\n" + beginning
    settings = DecodeSettings(tokens=tokens, temperature=0.7, seed=seed)
    return (beginning + generate(model, read, start, settings).text).decode("utf-8")


def _beginning(text: str, name: str) -> bytes:
    """*text* up to its title, which is *name*."""
    before, title, _ = text.partition('title = "')
    return f'{before}{title}{name}",'.encode()


def unused_name(library: Library, kind: str, seed: int) -> str:
    """A name for a script of *kind* that no other has."""
    taken = {script.name for script in library.scripts if script.kind == kind}
    names = [name for name in NAMES[kind] if name not in taken]
    return names[seed % len(names)] if names else f"{NAMES[kind][0]}_{len(taken)}"


@click.command(help=__doc__)
@click.option("--effects", default=4, show_default=True)
@click.option("--talents", default=6, show_default=True)
@click.option("--seed", default=1, show_default=True, help="Of the draws.")
@click.option("--tokens", default=300, show_default=True, help="Tokens of a script, at most.")
@click.option("--into", default=HERE / "generated", show_default=True, type=click.Path(path_type=Path))
@click.option("--model", default=None, help="As `fimlsp generate --model`; the bundled one by default.")
def main(effects: int, talents: int, seed: int, tokens: int, into: Path, model: str | None) -> None:
    """Write scripts."""
    written_by = load_model() if model is None else load_model(model)
    library = load_library(generated=into == HERE / "generated")
    for folder, count in (("effects", effects), ("talents", talents)):
        (into / folder).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            kind = KINDS[folder]
            name = unused_name(library, kind, seed + number)
            path = into / folder / f"{name}.slua"
            path.write_text(write_script(written_by, library, kind, name, seed + number, tokens), "utf-8")
            library = library.with_scripts([path])
            click.echo(f"{path}: {next(iter(library.faults), 'valid')}")


if __name__ == "__main__":
    main()
