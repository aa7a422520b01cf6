/** A wheel named fimlsp without dependencies, for tests that install it. */

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Packs it into *folder* with *python*; *main* is what `python -m fimlsp` runs. Its path. */
export function makeWheel(python: string, folder: string, main: string): string {
  const wheel = join(folder, "fimlsp-9.9.9-py3-none-any.whl");
  const pack = join(folder, "pack.py");
  writeFileSync(
    pack,
    `import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("fimlsp/__init__.py", "")
    wheel.writestr("fimlsp/__main__.py", sys.argv[2])
    wheel.writestr("fimlsp-9.9.9.dist-info/METADATA", "Metadata-Version: 2.1\\nName: fimlsp\\nVersion: 9.9.9\\n")
    wheel.writestr("fimlsp-9.9.9.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr("fimlsp-9.9.9.dist-info/RECORD", "")
`,
  );
  execFileSync(python, [pack, wheel, main]);
  return wheel;
}
