/**
 * cborg as both readers of CBOR use it: the strictest it can be. It decodes text
 * with an encoder of the platform that takes a leading U+FEFF for a mark and drops
 * it; here that is a character of the text like any other, or two byte strings
 * would mean one thing and a value would not come back from its own encoding.
 */
import { decode, Tokenizer } from "cborg";

const OPTIONS = {
  strict: true,
  useMaps: true,
  rejectDuplicateMapKeys: true,
  allowIndefinite: false,
  allowUndefined: false,
  allowNaN: false,
  allowInfinity: false,
  allowBigInt: false,
} as const;

const TEXT = 3;
const MARK = "\uFEFF";
const MARK_BYTES = [0xef, 0xbb, 0xbf] as const;

/** Gives text back the mark that the decoder took from its beginning. */
class WholeText extends Tokenizer {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    super(bytes, OPTIONS);
    this.#bytes = bytes;
  }

  override next() {
    const at = this.pos();
    const token = super.next();
    const initial = this.#bytes[at] ?? 0;
    if (initial >> 5 !== TEXT) return token;
    const info = initial & 31;
    const from = at + 1 + (info < 24 ? 0 : 1 << (info - 24));
    // A shorter text has no mark, and must not be given one: the library has a single token for all that are empty.
    const isMarked =
      from + MARK_BYTES.length <= this.pos() && MARK_BYTES.every((byte, index) => this.#bytes[from + index] === byte);
    if (isMarked) token.value = `${MARK}${token.value}`;
    return token;
  }
}

/** Whether the three bytes of the mark stand anywhere, as text or by chance. */
const hasMark = (bytes: Uint8Array): boolean => {
  const [first, second, third] = MARK_BYTES;
  for (let at = bytes.indexOf(first); at !== -1; at = bytes.indexOf(first, at + 1))
    if (bytes[at + 1] === second && bytes[at + 2] === third) return true;
  return false;
};

/** The one item that the bytes are. Throws for what is not well-formed or has a map with the same key twice. */
export const decodeItem = (bytes: Uint8Array): unknown =>
  hasMark(bytes) ? decode(bytes, { ...OPTIONS, tokenizer: new WholeText(bytes) }) : decode(bytes, OPTIONS);
