/** Lists that short texts are made from: texts of one length share one, which is quicker than to make one each. */

const LONGEST = 128;
const lists = Array.from({ length: LONGEST + 1 }, (_, length): Array<number> => Array.from({ length }, () => 0));

/**
 * A list to write the character codes of one text into before `String.fromCharCode.apply` reads them; the next
 * caller with a text of this length writes into the same.
 *
 * @param length how many characters the text has
 */
export const codesOf = (length: number): Array<number> => lists[length] ?? Array.from({ length }, () => 0);
