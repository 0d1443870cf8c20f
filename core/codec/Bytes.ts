/** Byte strings: where short-lived ones stand, and comparison of public ones, which stops at the first difference. */

const SLAB_BYTES = 8192;
/** What is longer takes memory of its own: it would leave too much of a slab unused. */
const LONGEST_IN_SLAB = 1024;
let slab = new Uint8Array(SLAB_BYTES);
let used = 0;

/**
 * Zeros that nobody else writes to. Memory of its own costs each array beyond 64 bytes half a microsecond, and the
 * collector as much again; so many arrays share a slab, which is kept for as long as one of them is.
 *
 * @param length in bytes
 */
export const zeroBytes = (length: number): Uint8Array => {
  if (length > LONGEST_IN_SLAB) return new Uint8Array(length);
  if (used + length > SLAB_BYTES) {
    slab = new Uint8Array(SLAB_BYTES);
    used = 0;
  }
  const start = used;
  used += length;
  return slab.subarray(start, used);
};

/** One after the other in an array of its own, as {@link zeroBytes} makes it. */
export const joinedBytes = (first: Uint8Array, second: Uint8Array): Uint8Array => {
  const bytes = zeroBytes(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
};

export const sameBytes = (left: Uint8Array, right: Uint8Array): boolean =>
  left.length === right.length && hasBytesAt(left, 0, right);

/** Whether a part stands at an offset. */
export const hasBytesAt = (bytes: Uint8Array, at: number, part: Uint8Array): boolean => {
  for (let index = 0; index < part.length; index += 1) if (bytes[at + index] !== part[index]) return false;
  return true;
};
