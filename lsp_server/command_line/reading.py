"""Reads the files that users name: regular ones of a bounded size, or a sentence why not."""

from __future__ import annotations

from pathlib import Path

import click

from fimlsp.lsp_server.documents.open_documents import LARGEST_DOCUMENT
from fimlsp.lsp_server.workspace.guarded_reading import read_regular_file


def read_bytes(file: Path) -> bytes:
    """The bytes of *file*.

    Raises:
        click.ClickException: it cannot be read, or is no regular file of at most 8 MB.
    """
    try:
        data = read_regular_file(file, LARGEST_DOCUMENT)
    except OSError as error:
        raise click.ClickException(f"{file} cannot be read ({error.strerror}).") from error
    if data is None:
        raise click.ClickException(f"{file} is not a regular file of at most {LARGEST_DOCUMENT:,} bytes.")
    return data


def read_text(file: Path) -> bytes:
    """As `read_bytes`, of a file in UTF-8.

    Raises:
        click.ClickException: as `read_bytes`, or it is not UTF-8.
    """
    data = read_bytes(file)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{file} cannot be decoded ({error}); save it as UTF-8.") from error
    return data
