/** The files through which a run and its peers communicate; see FaultPort.ts. */

/** Milliseconds by which the peer's wall clock is off. */
export const clockFile = "clock";
/** Present while the next flush shall fail; renamed to {@link doneFile} by the flush that does. */
export const flushFile = "flush";
export const doneFile = "flush.done";

/**
 * What becomes of the next transaction that changes one table: TABLE and how, with a space between; renamed to
 * {@link reachedFile} once it has come to that.
 */
export const stepFile = "step";
export const reachedFile = "step.reached";
/** The process is gone before the flush, or right after it; or the flush fails, with its bytes lost, no room or all kept. */
export const stepEnds = ["before", "after", "lost", "full", "kept"] as const;
export type StepEnd = (typeof stepEnds)[number];

/** What happens to the next copy of the database; renamed to {@link copiedFile} when that begins. */
export const copyFile = "copy";
export const copiedFile = "copy.begun";
export const copyOrders = ["slow", "fails", "full"] as const;
export type CopyOrder = (typeof copyOrders)[number];

const DIGITS = 5;
const padded = (value: number): string => String(value).padStart(DIGITS, "0");

/** One part of the journal of one process; names sort in the order of writing. */
export const journalFile = (process: number, part: number): string => `journal-${padded(process)}-${padded(part)}.bin`;

/** Which process wrote a journal file; undefined for other files. */
export const journalProcess = (name: string): number | undefined => {
  const [, process] = /^journal-([0-9]{5,})-[0-9]{5,}\.bin$/.exec(name) ?? [];
  return process === undefined ? undefined : Number(process);
};

/** One part of the secrets of keys that one process made, framed. */
export const secretsFile = (process: number, part: number): string => `secrets-${padded(process)}-${padded(part)}.bin`;

/** Which process wrote a file of its secrets; undefined for other files. */
export const secretsProcess = (name: string): number | undefined => {
  const [, process] = /^secrets-([0-9]{5,})-[0-9]{5,}\.bin$/.exec(name) ?? [];
  return process === undefined ? undefined : Number(process);
};

/** The memory of one process, a line of JSON for each {@link MemorySample}. */
export const memoryFile = (process: number): string => `memory-${padded(process)}.jsonl`;

/** Which process wrote a file of its memory; undefined for other files. */
export const memoryProcess = (name: string): number | undefined => {
  const [, process] = /^memory-([0-9]{5,})\.jsonl$/.exec(name) ?? [];
  return process === undefined ? undefined : Number(process);
};

/** What a process uses once its garbage is collected, in bytes. */
export interface MemorySample {
  /** Milliseconds since the process began. */
  readonly at: number;
  /** Of its main thread: its objects, and buffers outside the heap. */
  readonly used: number;
  /** Of the whole process, all threads and libraries included. */
  readonly resident: number;
}

const LENGTH_BYTES = 4;

/** Bytes behind their length. */
export const framed = (bytes: Uint8Array): Uint8Array => {
  const frame = new Uint8Array(LENGTH_BYTES + bytes.length);
  new DataView(frame.buffer).setUint32(0, bytes.length);
  frame.set(bytes, LENGTH_BYTES);
  return frame;
};

/** The framed parts, in order; a last one that was cut short is left out. */
export const unframed = (file: Uint8Array): ReadonlyArray<Uint8Array> => {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const frames: Array<Uint8Array> = [];
  for (let at = 0; at + LENGTH_BYTES <= file.length; ) {
    const end = at + LENGTH_BYTES + view.getUint32(at);
    if (end > file.length) break;
    frames.push(file.subarray(at + LENGTH_BYTES, end));
    at = end;
  }
  return frames;
};
