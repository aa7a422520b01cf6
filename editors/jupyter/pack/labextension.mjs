/**
 * Makes the extension of the page in build/labextension/: one script, its settings and its description.
 *
 * JupyterLab loads a script for each extension, which puts a container into `_JUPYTERLAB`: `init` gets the modules
 * that all extensions share, `get` gives the extension's own. This is the interface of webpack's module federation.
 * Jupyter's builder makes such containers with webpack, its loaders and 300 more packages; the one here is 20 lines.
 */

import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { build } from "esbuild";

const OUT = "build/labextension";
const SHARED = ["@jupyterlab/*", "@lumino/*", "@codemirror/*"];

const description = JSON.parse(readFileSync("package.json", "utf8"));
const python = readFileSync("../../src/fimlsp/__init__.py", "utf8");
const version = /^__version__ = "(.*)"$/m.exec(python)[1];

const bundle = await build({
  entryPoints: ["src/index.ts"],
  bundle: true,
  minify: true,
  format: "cjs",
  target: "es2022",
  conditions: ["browser"],
  external: SHARED,
  metafile: true,
  write: false,
});
const [{ imports }] = Object.values(bundle.metafile.outputs);
const shared = [...new Set(imports.filter(({ external }) => external).map(({ path }) => path))].sort();

const script = `${container.toString()}
(window._JUPYTERLAB ??= {})[${JSON.stringify(description.name)}] = container(${JSON.stringify(shared)}, (module, exports, require) => {
${bundle.outputFiles[0].text}});
`;
const hash = createHash("sha256").update(script).digest("hex").slice(0, 20);
const load = `static/remoteEntry.${hash}.js`;

rmSync(OUT, { recursive: true, force: true });
mkdirSync(join(OUT, "static"), { recursive: true });
writeFileSync(join(OUT, load), script);
const { name, license, jupyterlab } = description;
const built = { ...jupyterlab, _build: { load, extension: "./extension" } };
const public_ = { name, version, description: description.description, license, jupyterlab: built };
writeFileSync(join(OUT, "package.json"), JSON.stringify(public_, null, 2));
const schemas = join(OUT, "schemas", name);
cpSync(jupyterlab.schemaDir, schemas, { recursive: true });
writeFileSync(join(schemas, "package.json.orig"), JSON.stringify({ ...public_, jupyterlab }, null, 2));

/** Runs in the page. *names* are the shared modules that *run* requires. */
function container(names, run) {
  let scope;
  const newest = (versions) =>
    Object.keys(versions).sort((one, other) => other.localeCompare(one, "en", { numeric: true }))[0];
  const load = async (name) => {
    const versions = scope[name];
    if (versions === undefined) {
      throw new Error(`jupyterlab-fimlsp: this version of JupyterLab has no ${name}`);
    }
    const used = Object.values(versions).find(({ loaded }) => loaded) ?? versions[newest(versions)];
    return [name, (await used.get())()];
  };
  return {
    init: (shared) => {
      scope = shared;
    },
    get: async () => {
      const modules = new Map(await Promise.all(names.map(load)));
      return () => {
        const module = { exports: {} };
        run(module, module.exports, (name) => modules.get(name));
        return module.exports;
      };
    },
  };
}
