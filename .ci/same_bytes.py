"""Packs an sdist again so that the same files give the same bytes: no time, owner or order of a machine."""

import gzip
import io
import os
import sys
import tarfile
from pathlib import Path

path = Path(sys.argv[1])
epoch = int(os.environ["SOURCE_DATE_EPOCH"])
packed = io.BytesIO()
with (
    tarfile.open(path) as before,
    gzip.GzipFile("", "wb", mtime=epoch, fileobj=packed) as stream,
    tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as after,
):
    for member in sorted(before.getmembers(), key=lambda each: each.name):
        member.mtime, member.uid, member.gid, member.uname, member.gname = epoch, 0, 0, "", ""
        member.pax_headers = {}
        after.addfile(member, before.extractfile(member) if member.isfile() else None)
path.write_bytes(packed.getvalue())
