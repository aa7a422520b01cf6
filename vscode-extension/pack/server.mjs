/** Puts into server/ what the .vsix brings along: the wheel, the locked versions, and what makes an environment of them. */

import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";

const SERVER = "server";
const wheel = process.env.FIMLSP_WHEEL;

rmSync(SERVER, { recursive: true, force: true });
mkdirSync(SERVER);
if (wheel) {
  copyFileSync(wheel, join(SERVER, basename(wheel)));
} else {
  for (const leftover of ["lib", "bdist.linux-x86_64"]) {
    rmSync(join("..", "build", leftover), { recursive: true, force: true });
  }
  const python = process.env.PYTHON ?? (process.platform === "win32" ? "py" : "python3");
  const quiet = ["--quiet", "--disable-pip-version-check"];
  execFileSync(python, ["-m", "pip", "wheel", ...quiet, "--no-deps", "--wheel-dir", SERVER, ".."], {
    stdio: "inherit",
  });
}
copyFileSync("../constraints.txt", join(SERVER, "constraints.txt"));
copyFileSync("../LICENSE", "LICENSE");
cpSync("../editors/environment", join(SERVER, "environment"), {
  recursive: true,
  filter: (path) => !path.includes("__pycache__"),
});
