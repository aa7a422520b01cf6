/** The version of everything: that of the server, set in src/fimlsp/__init__.py alone. */

import { readFileSync } from "node:fs";

export const version = /^__version__ = "(.*)"$/m.exec(readFileSync("../src/fimlsp/__init__.py", "utf8"))[1];
