/** Boxes of shares that peers have erased, found again in whatever they store, as bytes or as text. */
import { Encoding } from "effect";
import type { TableName, Write } from "../../core/Tables.ts";
import type { Watched } from "./Checker.ts";

const ALL = Number.MAX_SAFE_INTEGER;

interface Needle {
  readonly generation: string;
  readonly hex: string;
  readonly base64: string;
}

interface Boxes {
  /** By generation: what the disk has as a share. */
  readonly held: Map<string, Uint8Array>;
  readonly erased: Array<Needle>;
}

const inText = (text: string, needles: ReadonlyArray<Needle>): Needle | undefined =>
  needles.find(({ hex, base64 }) => text.includes(hex) || text.includes(base64));

/** Walks every part of a value, whatever its fields are called. */
const foundIn = (value: unknown, needles: ReadonlyArray<Needle>): Needle | undefined => {
  if (typeof value === "string") return inText(value, needles);
  if (typeof value !== "object" || value === null) return undefined;
  if (value instanceof Uint8Array) return inText(Encoding.encodeHex(value), needles);
  const parts = value instanceof Map ? [...value].flat() : Object.values(value);
  for (const part of parts) {
    const found = foundIn(part, needles);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** By peer, since its process began: another disk may have come with it. */
export class ErasedBoxes {
  readonly #peers = new Map<number, Boxes>();
  readonly #tableNames: ReadonlyArray<TableName>;

  constructor(tableNames: ReadonlyArray<TableName>) {
    // Ranges have no seal by which a row of them could be opened, and nothing but names and digests.
    this.#tableNames = tableNames.filter((table) => table !== "ranges");
  }

  begin({ slot, store }: Watched): void {
    const held = new Map(store.scan("shares", "", ALL).map(({ key, row }) => [key, row.box]));
    this.#peers.set(slot, { held, erased: [] });
  }

  /** The generation whose erased box is in a row after this transaction, and in which one; undefined where none is. */
  after(
    peer: Watched,
    writes: ReadonlyArray<Write>,
  ): { readonly generation: string; readonly row: string } | undefined {
    const boxes = this.#peers.get(peer.slot);
    if (boxes === undefined) return undefined;
    const gone = this.#follow(boxes, writes);
    if (boxes.erased.length === 0) return undefined;
    for (const write of writes) {
      const found = write.op === "remove" ? undefined : foundIn(write.row, boxes.erased);
      if (found !== undefined) return { generation: found.generation, row: `${write.table}/${write.key}` };
    }
    if (gone.length === 0) return undefined;
    for (const table of this.#tableNames)
      for (const { key, row } of peer.store.scan(table, "", ALL)) {
        const found = foundIn(row, gone);
        if (found !== undefined) return { generation: found.generation, row: `${table}/${key}` };
      }
    return undefined;
  }

  /** What this transaction erases. */
  #follow({ held, erased }: Boxes, writes: ReadonlyArray<Write>): ReadonlyArray<Needle> {
    const gone: Array<Needle> = [];
    for (const write of writes) {
      if (write.table !== "shares") continue;
      const box = held.get(write.key);
      if (write.op !== "remove") held.set(write.key, write.row.box);
      else if (box !== undefined && held.delete(write.key))
        gone.push({ generation: write.key, hex: Encoding.encodeHex(box), base64: Encoding.encodeBase64(box) });
    }
    erased.push(...gone);
    return gone;
  }
}
