/** Makes the .vsix, of the same version as the server. */

import { createVSIX } from "@vscode/vsce";

import { version } from "./version.mjs";

await createVSIX({
  version,
  updatePackageJson: false,
  gitTagVersion: false,
  dependencies: false,
  allowMissingRepository: true,
});
