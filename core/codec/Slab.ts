/**
 * The memory of short byte strings. A buffer of its own costs each array beyond 64 bytes half a microsecond, and the
 * collector as much again; so many arrays share a slab, which is kept for as long as one of them is. Each of them is a
 * view: its `buffer` belongs to others too, and goes to no other thread.
 */
const SLAB_BYTES = 16 * 1024;
/** Longer arrays take memory of their own: they would leave too much of a slab unused. */
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

/** A copy of the bytes, which stays as it is whatever is written over the original. */
export const copiedBytes = (bytes: Uint8Array): Uint8Array => {
  const copy = zeroBytes(bytes.length);
  copy.set(bytes);
  return copy;
};

/** All of them, one after the other, in an array of its own. */
export const joinedBytes = (first: Uint8Array, second: Uint8Array): Uint8Array => {
  const bytes = zeroBytes(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
};
