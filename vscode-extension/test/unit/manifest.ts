/** The extension's manifest, for tests that hold the sources against it. */

import { readFileSync } from "node:fs";

import type { Settings } from "../../src/settings";

export const manifest = JSON.parse(readFileSync("package.json", "utf8"));
export const properties: Record<string, { default: unknown }> = manifest.contributes.configuration.properties;
export const commands: string[] = manifest.contributes.commands.map(
  (each: { command: string }) => each.command,
);

/** A configuration in which only *values* are set. */
export function settings(values: Record<string, unknown>): Settings {
  return { get: <T>(name: string, otherwise: T) => (name in values ? (values[name] as T) : otherwise) };
}
