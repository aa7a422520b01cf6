/** What the server says of the models on this machine, as entries of a menu. */

/** A model: the fields of `LocalModel` in `models/local_models.py`. */
export interface Model {
  /** What the setting `model` has to be; empty: the bundled one. */
  readonly name: string;
  readonly program: string;
  readonly size: number | null;
  readonly n_parameters: number | null;
  readonly precision: string;
  readonly licence?: string;
  readonly family: string;
  readonly fills_in: boolean | null;
  readonly remark: string | null;
}

/** An entry: what it says, and the model it stands for. */
export interface ModelEntry {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  readonly model: string;
}

/** The entries for *models*, those that fill in the middle first; *now* is the model that is set. */
export function entriesOfModels(models: readonly Model[], now: string): ModelEntry[] {
  const inOrder = [...models].sort((one, other) => rank(one) - rank(other));
  return inOrder.map((model) => ({
    label: `$(${iconOf(model, now)}) ${model.name === "" ? "The small model that comes with fimlsp" : model.name}`,
    description: [model.program, gigabytes(model.size), model.precision].filter((part) => part !== "").join(", "),
    detail: verdictOn(model),
    model: model.name,
  }));
}

/** Bytes of memory that a model takes for each byte of its file. */
const MEMORY = 1.2;

/** A larger file is not offered: it takes too long on most machines. */
const MOST_OFFERED = 5e9;

/** A model to offer instead of the bundled one, and the question; undefined if there is none. */
export function offerOf(models: readonly Model[]): { readonly model: string; readonly question: string } | undefined {
  const usable = models.filter(
    ({ name, fills_in, remark, size }) =>
      name !== "" && fills_in === true && remark === null && (size ?? 0) <= MOST_OFFERED,
  );
  const isRunning = ({ name }: Model) => (name.startsWith("http") ? 0 : 1);
  const [best] = usable.sort((one, other) => isRunning(one) - isRunning(other) || (one.size ?? 0) - (other.size ?? 0));
  if (best === undefined) {
    return undefined;
  }
  const { name, program, size, licence = "" } = best;
  const cost =
    isRunning(best) === 0 ? "runs already" : size === null ? "" : `takes about ${gigabytes(size * MEMORY)} of memory`;
  const facts = [program, gigabytes(size), licence === "" ? "licence unknown" : licence, cost];
  return {
    model: name,
    question: `${name} is on this machine (${facts.filter((part) => part !== "").join(", ")}). Use it for suggestions?`,
  };
}

function rank({ name, fills_in }: Model): number {
  return name === "" ? 0 : fills_in === true ? 1 : fills_in === null ? 2 : 3;
}

function iconOf({ name, fills_in }: Model, now: string): string {
  return name === now ? "check" : fills_in === false ? "circle-slash" : name === "" ? "package" : "file-code";
}

function verdictOn({ family, fills_in, remark }: Model): string {
  const verdict =
    fills_in === null
      ? "fill-in-the-middle support is detected when it is loaded"
      : fills_in
        ? `fills in the middle (${family})`
        : "cannot be used";
  return remark === null ? verdict : `${verdict}: ${remark}`;
}

function gigabytes(size: number | null): string {
  return size === null ? "" : size < 1e8 ? `${(size / 1e6).toFixed(0)} MB` : `${(size / 1e9).toFixed(1)} GB`;
}
