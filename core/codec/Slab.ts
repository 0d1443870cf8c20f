/**
 * Where short byte strings stand. Memory of its own costs each array beyond 64 bytes half a microsecond, and the
 * collector as much again; so many arrays share a slab, which is kept for as long as one of them is. What stands in
 * one is a view: its `buffer` is others' too, and goes to no other thread.
 */
const SLAB_BYTES = 16 * 1024;
/** What is longer takes memory of its own: it would leave too much of a slab unused. */
const LONGEST_IN_SLAB = 2048;
let slab = new Uint8Array(SLAB_BYTES);
let used = 0;

/**
 * Zeros that nobody else writes to.
 *
 * @param length in bytes
 */
export const zeroBytes = (length: number): Uint8Array => {
  if (length > LONGEST_IN_SLAB) return new Uint8Array(length);
  if (length > SLAB_BYTES - used) {
    slab = new Uint8Array(SLAB_BYTES);
    used = 0;
  }
  const start = used;
  used += length;
  return slab.subarray(start, used);
};

/** The same bytes, which stay as they are whatever is written where these stand. */
export const copiedBytes = (bytes: Uint8Array): Uint8Array => {
  const copy = zeroBytes(bytes.length);
  copy.set(bytes);
  return copy;
};

/** One after the other in an array of its own. */
export const joinedBytes = (first: Uint8Array, second: Uint8Array): Uint8Array => {
  const bytes = zeroBytes(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
};
