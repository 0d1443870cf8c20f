/** Lists to make short texts from: all texts of one length share a list, which is faster than making one each. */

const LONGEST = 128;
const lists = Array.from({ length: LONGEST + 1 }, (_, length): Array<number> => Array.from({ length }, () => 0));

/**
 * A list for the character codes of one text, for `String.fromCharCode.apply` to read; the next caller with a text of
 * this length writes into the same list.
 *
 * @param length how many characters the text has
 */
export const codesOf = (length: number): Array<number> => lists[length] ?? Array.from({ length }, () => 0);
