/**
 * How far each sink of the audit is, kept in the data folder: after a start each goes on behind the last event it is
 * known to have. A file that is lost or malformed costs repeated events, never one.
 */
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Effect, Either } from "effect";
import { parseStrictJson } from "../../core/codec/StrictJson.ts";
import type { Digest } from "../../core/base/Digest.ts";
import { readBoundedFile } from "../config/BoundedFile.ts";
import { CHAIN_START, type ChainPlace } from "./AuditChain.ts";

const FILE = "audit-sinks.json";
const MOST_BYTES = 4096;
const VERSION = 1;

export type SinkName = "stdout" | "file";
type Places = ReadonlyMap<SinkName, ChainPlace>;

const names: ReadonlyArray<SinkName> = ["stdout", "file"];

const placeIn = (text: unknown): ChainPlace | undefined => {
  const [, seq, hash] = /^(0|[1-9][0-9]{0,14}):([0-9a-f]{64})$/.exec(typeof text === "string" ? text : "") ?? [];
  // The brand is the length.
  return seq === undefined ? undefined : { seq: Number(seq), hash: hash as Digest };
};

const parsed = (bytes: Uint8Array): Places | undefined => {
  const json = Either.getOrUndefined(parseStrictJson(bytes));
  if (!(json instanceof Map) || json.get("version") !== VERSION) return undefined;
  const places = new Map<SinkName, ChainPlace>();
  for (const name of names) {
    const place = placeIn(json.get(name));
    if (place === undefined && json.has(name)) return undefined;
    if (place !== undefined) places.set(name, place);
  }
  return places;
};

export class SinkPositions {
  readonly #path: string;
  readonly #places: Map<SinkName, ChainPlace>;
  /** Writes one after the other: sinks come along each by itself. */
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, places: Places) {
    this.#path = path;
    this.#places = new Map(places);
  }

  /** @param report told where the file cannot be used, and that sinks begin with the first event */
  static async open(directory: string, report: (reason: string) => void): Promise<SinkPositions> {
    const path = join(directory, FILE);
    const bytes = await Effect.runPromise(
      Effect.either(readBoundedFile(path, { maxBytes: MOST_BYTES, secret: false })),
    );
    const places = Either.isRight(bytes) ? parsed(bytes.right) : undefined;
    const fault = Either.isLeft(bytes)
      ? bytes.left.isMissing
        ? undefined
        : bytes.left.message
      : `${path} is malformed`;
    if (places === undefined && fault !== undefined) report(`${fault}; the sinks begin with the first event`);
    return new SinkPositions(path, places ?? new Map());
  }

  at(name: SinkName): ChainPlace {
    return this.#places.get(name) ?? CHAIN_START;
  }

  /** Durable when it resolves; rejects where the disk fails, and then holds in this process alone. */
  keep(name: SinkName, place: ChainPlace): Promise<void> {
    this.#places.set(name, place);
    const written = this.#writing.then(() => this.#write());
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #write(): Promise<void> {
    const places = [...this.#places].map(([name, { seq, hash }]) => [name, `${seq}:${hash}`] as const);
    const text = JSON.stringify({ version: VERSION, ...Object.fromEntries(places) });
    await writeFile(`${this.#path}.new`, text, { mode: 0o600, flush: true });
    await rename(`${this.#path}.new`, this.#path);
  }
}
