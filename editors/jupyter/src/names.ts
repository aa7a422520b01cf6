/** Names of documents and languages: Jupyter's, and those of the language server. */

/** Schemes of URIs: of cells, which LSP's specification calls so, and of documents on no disk of the server. */
const CELL_SCHEME = "vscode-notebook-cell:";
const ELSEWHERE = "untitled:";

/** A drive of JupyterLab that is the server's own folder, with shared editing. */
const SHARED_DRIVE = "RTC";

const BY_MIME: Readonly<Record<string, string>> = {
  "application/json": "json",
  "application/manifest+json": "json",
  "text/x-ipython": "python",
  "text/x-script.python": "python",
};
const PLAIN = "text/plain";
const TEXT_MIME = /^(?:text|application)\/(?:x-)?([\w+#-]+)$/;

/** The URI of the file at *path*, as Jupyter names it, in the folder with the URI *root*. */
export function fileUri(root: string, path: string): string {
  const colon = path.indexOf(":");
  const drive = colon < 0 || path.slice(0, colon).includes("/") ? "" : path.slice(0, colon);
  const local = drive === "" ? path : path.slice(colon + 1);
  const encoded = local.split("/").filter((part) => part !== "").map(encodeURIComponent).join("/");
  return drive === "" || drive === SHARED_DRIVE ? `${root.replace(/\/$/, "")}/${encoded}` : `${ELSEWHERE}${drive}/${encoded}`;
}

/** The URI of a cell of the notebook at *path*. */
export function cellUri(root: string, path: string, number: number): string {
  const notebook = fileUri(root, path);
  const isLocal = notebook.startsWith("file:");
  return `${isLocal ? CELL_SCHEME + notebook.slice("file://".length) : notebook}#${number}`;
}

/** The language of a file with the MIME type *mime*; unknown ones keep their name. *extension* is as in `.py`. */
export function languageOfMime(mime: string, extension: string): string {
  const named = mime === PLAIN ? undefined : TEXT_MIME.exec(mime)?.[1];
  return BY_MIME[mime] ?? named ?? (extension.slice(1) || "plaintext");
}

/**
 * The language of a notebook, by its metadata. A new notebook has no `language_info` until its kernel has started.
 * Empty: unknown.
 */
export function kernelLanguage(info: unknown, spec: unknown): string {
  const language = nameIn(info, "name") || nameIn(spec, "language");
  return (language || (/^(?:python|xpython|conda-env-.*-py)/.test(nameIn(spec, "name")) ? "python" : "")).toLowerCase();
}

function nameIn(value: unknown, key: string): string {
  const name = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  return typeof name === "string" ? name : "";
}
