/**
 * The variables of a running kernel as a cell of Python, which the server reads above the others.
 *
 * The kernel is asked with Jupyter's own messages for completion and inspection. No code is sent to it.
 */

import type { ISessionContext } from "@jupyterlab/apputils";
import type { Kernel, KernelMessage } from "@jupyterlab/services";

/** A completion: its text, and its type as IPython has it. */
export interface Match {
  readonly text: string;
  readonly type: string;
}

/** What is needed of a kernel. */
export interface Answers {
  /** The completions at the end of *code*. */
  complete(code: string): Promise<readonly Match[]>;
  /** The description of the object with *name*; undefined if there is none. */
  inspect(name: string): Promise<string | undefined>;
}

const MOST_VARIABLES = 100;
const MOST_KEYS = 50;
const LONGEST_KEY = 60;

/** The pause after an execution, since several cells often run one after the other. */
const PAUSE_MS = 300;

const KEYWORDS =
  "False None True and as assert async await break case class continue def del elif else except finally for from " +
  "global if import in is lambda match nonlocal not or pass raise return try type while with yield";
/** Names of IPython's own. */
const SHELL = "In Out exit quit get_ipython open";
const NAME = /^[^\W\d_]\w*$/u;
const COLOUR = /\x1b\[[\d;]*m/g;
const FIELD = /^(\w[\w ]*): *(.*)$/;
const MODULE = /^<module '([\w.]+)'/;

/** Types whose objects have no keys. */
const PLAIN = new Set("bool bytes complex float int list set str tuple NoneType".split(" "));

/** See the module. *read* returns the kernel, if its variables are wanted; *changed* is called for a new text. */
export class Variables {
  private own = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private turn = 0;
  private now = "";

  constructor(
    private readonly read: () => Answers | undefined,
    private readonly changed: () => void,
  ) {}

  /** The text of the cell; empty without variables. */
  get text(): string {
    return this.now;
  }

  /** Read the variables soon; a newer call replaces an older one. */
  refresh(): void {
    this.turn++;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.readAll(this.turn), PAUSE_MS);
  }

  /** The kernel has gone, with its variables. */
  clear(): void {
    this.turn++;
    clearTimeout(this.timer);
    this.own.clear();
    this.become("");
  }

  private async readAll(turn: number): Promise<void> {
    const kernel = this.read();
    if (kernel === undefined) {
      this.clear();
      return;
    }
    const lines: string[] = [];
    try {
      for (const name of (await this.names(kernel)).slice(0, MOST_VARIABLES)) {
        if (this.turn !== turn) {
          return;
        }
        const line = await declarationIn(kernel, name);
        lines.push(...(line === undefined ? [] : [line]));
      }
    } catch {
      return; // the kernel has gone, or is another one
    }
    if (this.turn === turn) {
      this.become(lines.join("\n"));
    }
  }

  /** The user's names: all in scope but those that each kernel has. */
  private async names(kernel: Answers): Promise<string[]> {
    if (this.own.size === 0) {
      const builtins = (await kernel.complete("__builtins__.")).map(({ text }) => text.split(".").at(-1) ?? "");
      this.own = new Set([...builtins, ...KEYWORDS.split(" "), ...SHELL.split(" ")]);
    }
    const names = (await kernel.complete("")).map(({ text }) => text);
    return [...new Set(names)].filter((name) => NAME.test(name) && !this.own.has(name));
  }

  private become(text: string): void {
    if (text !== this.now) {
      this.now = text;
      this.changed();
    }
  }
}

async function declarationIn(kernel: Answers, name: string): Promise<string | undefined> {
  const description = await kernel.inspect(name);
  if (description === undefined) {
    return undefined;
  }
  const fields = fieldsOf(description);
  const hasKeys = !fields.has("Signature") && !fields.has("Init signature") && !PLAIN.has(fields.get("Type") ?? "");
  const matches = hasKeys && fields.get("Type") !== "module" ? await kernel.complete(`${name}["`) : [];
  return declaration(
    name,
    fields,
    matches.filter(({ type }) => type === "dict key").map(({ text }) => text),
  );
}

/** The fields of a description by IPython, the first of each name. */
export function fieldsOf(description: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of description.replace(COLOUR, "").split("\n")) {
    const [, field, value] = FIELD.exec(line) ?? [];
    if (field !== undefined && value !== undefined && !fields.has(field)) {
      fields.set(field, value.trim());
    }
  }
  return fields;
}

/** A statement that makes a variable like *name*, as far as its *fields* and *keys* say. */
export function declaration(name: string, fields: ReadonlyMap<string, string>, keys: readonly string[]): string {
  const type = fields.get("Type") ?? "";
  const module = MODULE.exec(fields.get("String form") ?? "")?.[1];
  if (type === "module" && module !== undefined) {
    return module === name ? `import ${name}` : `import ${module} as ${name}`;
  }
  if (fields.has("Init signature")) {
    return `class ${name}: ...`;
  }
  const signature = fields.get("Signature");
  if (signature !== undefined) {
    const isPython = signature.startsWith(`${name}(`) && signature.endsWith(")") && !/[<>]/.test(signature);
    return `def ${isPython ? signature : `${name}(*args, **kwargs)`}: ...`;
  }
  const short = keys.filter((key) => key.length <= LONGEST_KEY).slice(0, MOST_KEYS);
  const table = short.length === 0 ? "" : `{${short.map((key) => `${JSON.stringify(key)}: ...`).join(", ")}}`;
  if (type === "dict" || type === "NoneType") {
    return `${name} = ${type === "dict" ? table || "{}" : "None"}`;
  }
  return `${name} = ${NAME.test(type) ? `${type}(${table})` : "..."}`;
}

/** Keeps *variables* like those of the kernel of *session*: they are read after each execution. */
export function follow(session: ISessionContext, variables: Variables): void {
  session.iopubMessage.connect((_, message) => {
    const { parent_header: parent, content } = message as KernelMessage.IStatusMsg;
    const isDone = message.header.msg_type === "status" && content.execution_state === "idle";
    if (isDone && "msg_type" in parent && parent.msg_type === "execute_request") {
      variables.refresh();
    }
  });
  session.kernelChanged.connect((_, { newValue }) => (newValue === null ? variables.clear() : variables.refresh()));
  session.statusChanged.connect((_, status) => {
    if (status === "restarting" || status === "autorestarting" || status === "dead") {
      variables.clear();
    }
  });
}

/** *kernel* as `Variables` reads it. */
export function answersOf(kernel: Kernel.IKernelConnection): Answers {
  return {
    complete: async (code) => {
      const { content } = await kernel.requestComplete({ code, cursor_pos: code.length });
      if (content.status !== "ok") {
        return [];
      }
      const typed: unknown = content.metadata["_jupyter_types_experimental"];
      return Array.isArray(typed) ? (typed as Match[]) : content.matches.map((text) => ({ text, type: "" }));
    },
    inspect: async (name) => {
      const { content } = await kernel.requestInspect({ code: name, cursor_pos: name.length, detail_level: 0 });
      const text = content.status === "ok" && content.found ? content.data["text/plain"] : undefined;
      return typeof text === "string" ? text : undefined;
    },
  };
}
