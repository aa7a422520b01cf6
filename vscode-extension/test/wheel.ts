/** A wheel named fimlsp without dependencies, for tests that install it. */

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Packs it into *folder* with *python*; *main* is what `python -m fimlsp` runs. Its path. */
export function makeWheel(python: string, folder: string, main: string): string {
  const wheel = join(folder, "fimlsp-0.1.0-py3-none-any.whl");
  const pack = join(folder, "pack.py");
  writeFileSync(
    pack,
    `import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("fimlsp/__init__.py", "")
    wheel.writestr("fimlsp/__main__.py", sys.argv[2])
    wheel.writestr("fimlsp-0.1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: fimlsp\\nVersion: 0.1.0\\n")
    wheel.writestr("fimlsp-0.1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr("fimlsp-0.1.0.dist-info/RECORD", "")
`,
  );
  execFileSync(python, [pack, wheel, main]);
  return wheel;
}
