/** The server's statistics in words. They stay on this machine, and start with the server. */

/** The result of `fimlsp.server.statistics`, as far as it is used here. */
export interface Statistics {
  readonly requests: number;
  readonly shown: number;
  readonly accepted: number;
  readonly acceptedPartly: number;
  readonly acceptedCharacters: number;
  readonly typedThrough: number;
  readonly dismissed: number;
  readonly cached: number;
  readonly prefetched: number;
  readonly tokens: number;
  readonly rejectedTokens: number;
  readonly noSuggestion: Readonly<Record<string, number>>;
  readonly latencyMs: Readonly<Record<string, Latency>>;
}

interface Latency {
  readonly median: number | null;
  readonly p95: number | null;
  readonly count: number;
}

/** One line of a list. */
export interface Line {
  readonly label: string;
  readonly description: string;
}

/** *statistics* line by line, the most important first. */
export function linesOf(statistics: Statistics): Line[] {
  const { shown, accepted, acceptedPartly, acceptedCharacters, tokens, rejectedTokens } = statistics;
  return [
    { label: "Suggestions", description: `${shown} for ${statistics.requests} requests` },
    {
      label: "Accepted",
      description: `${accepted} whole, ${acceptedPartly} in part; ${acceptedCharacters} characters`,
    },
    { label: "Dismissed", description: String(statistics.dismissed) },
    {
      label: "Answered without the model",
      description: `${statistics.typedThrough} type-through, ${statistics.cached} cached, ${statistics.prefetched} prefetched`,
    },
    {
      label: "Tokens",
      description: `${tokens} decoded, ${rejectedTokens} rejected because they cannot connect`,
    },
    ...Object.entries(statistics.latencyMs).map(([kind, latency]) => timeOf(kind, latency)),
    ...reasonsOf(statistics.noSuggestion),
  ];
}

function timeOf(kind: string, { median, p95, count }: Latency): Line {
  const label = kind === "model" ? "Latency with the model" : "Latency without the model";
  const description =
    count === 0 ? "no answers yet" : `median ${median} ms, p95 ${p95} ms, ${count} answers`;
  return { label, description };
}

function reasonsOf(reasons: Readonly<Record<string, number>>): Line[] {
  const byCount = Object.entries(reasons).sort(([, a], [, b]) => b - a);
  return byCount.map(([reason, count]) => ({
    label: "No suggestion",
    description: `${count} times: ${reason}`,
  }));
}
