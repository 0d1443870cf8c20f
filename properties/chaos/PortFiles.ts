/** The files through which a run and its peers communicate; see FaultPort.ts. */

/** Milliseconds by which the peer's wall clock is off. */
export const clockFile = "clock";
/** Present while the next flush shall fail; renamed to {@link doneFile} by the flush that does. */
export const flushFile = "flush";
export const doneFile = "flush.done";

const DIGITS = 5;
const padded = (value: number): string => String(value).padStart(DIGITS, "0");

/** One part of the journal of one process; names sort in the order of writing. */
export const journalFile = (process: number, part: number): string => `journal-${padded(process)}-${padded(part)}.bin`;

/** Which process wrote a journal file; undefined for other files. */
export const journalProcess = (name: string): number | undefined => {
  const [, process] = /^journal-([0-9]{5,})-[0-9]{5,}\.bin$/.exec(name) ?? [];
  return process === undefined ? undefined : Number(process);
};

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
