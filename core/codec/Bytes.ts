/** Comparison of public byte strings, which stops at the first difference. */

export const sameBytes = (left: Uint8Array, right: Uint8Array): boolean =>
  left.length === right.length && hasBytesAt(left, 0, right);

/** Whether a part occurs at an offset. */
export const hasBytesAt = (bytes: Uint8Array, at: number, part: Uint8Array): boolean => {
  for (let index = 0; index < part.length; index += 1) if (bytes[at + index] !== part[index]) return false;
  return true;
};

/** Less than, equal to or more than zero: octet by octet; if one begins the other, the shorter is first. */
export const compareBytes = (left: Uint8Array, right: Uint8Array): number => {
  for (let index = 0; index < left.length && index < right.length; index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
};
