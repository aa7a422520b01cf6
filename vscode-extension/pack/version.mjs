/** The version of everything: that of the server, which is said in fimlsp/__init__.py alone. */

import { readFileSync } from "node:fs";

export const version = /^__version__ = "(.*)"$/m.exec(readFileSync("../fimlsp/__init__.py", "utf8"))[1];
