/** Of `core/codec`. */
import { type ExplainedFiles, FOR_TYPES } from "./Reasons.ts";

export const codec: ExplainedFiles = {
  "core/codec/Base64Url.ts": {
    "A last character without a second is read with one that has no value, and is refused.": [["last === 1", "false"]],
    "Beyond the end of an array of bytes nothing is written.": [["last === 3", "true"]],
    "The code 128 is read as 0, which has no value.": [["codes < ASCII", "codes <= ASCII"]],
    "Three bytes at a time make the same text as twelve.": [
      ["at + 12 <= bytes.length", "false"],
      ["at + 12 <= bytes.length", "at + 12 < bytes.length"],
    ],
  },
  "core/codec/CanonicalJson.ts": {
    "No two keys of an object are the same.": [["left < right", "left <= right"]],
    "What is taken as plain needs no escape, and ECMAScript writes it the same; to know it saves asking.": [
      [
        "{\n  for (let index = 0; index < text.length; index += 1) {\n    const unit = text.charCodeAt(index);\n    if (unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c) return false;\n  }\n  return true;\n}",
        "{}",
      ],
      ["index < text.length", "index <= text.length"],
      ["unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c", "true"],
      ["unit < 0x20", "unit <= 0x20"],
      ["unit > 0x7e", "unit >= 0x7e"],
      ["true", "false"],
      ["isPlain(text)", "false"],
    ],
  },
  "core/codec/CborItem.ts": {
    "Where no text has a mark, looking for one in each changes nothing; it is slower.": [
      ["bytes[at + 1] === second && bytes[at + 2] === third", "true"],
      ["bytes[at + 1] === second && bytes[at + 2] === third", "bytes[at + 1] === second || bytes[at + 2] === third"],
      ["bytes[at + 1] === second", "true"],
      ["bytes[at + 2] === third", "true"],
    ],
  },
  "core/codec/CborReader.ts": {
    "Bytes read at leisure give the same value; reading them at once saves the time.": [["read === undefined", "true"]],
  },
  "core/codec/CborWriter.ts": {
    "A buffer that is just large enough, and grows nevertheless, holds the same.": [
      ["needed <= this.#buffer.length", "needed < this.#buffer.length"],
    ],
    "A buffer that grows by less grows more often.": [["this.#buffer.length * 2", "this.#buffer.length / 2"]],
    "Asked more often, the same is found: ASCII up to the limit fits, and other text is held against it with its bytes.":
      [
        ["value.length > max", "true"],
        ["value.length > max", "value.length >= max"],
      ],
    "ASCII is the same in UTF-8.": [
      ["unit > 0x7f", "true"],
      ["unit > 0x7f", "unit >= 0x7f"],
    ],
    "What is kept between two values is memory.": [
      ["this.#buffer.length > KEPT_CAPACITY", "true"],
      ["this.#buffer.length > KEPT_CAPACITY", "false"],
      ["this.#buffer.length > KEPT_CAPACITY", "this.#buffer.length >= KEPT_CAPACITY"],
      ["this.#buffer.length > KEPT_CAPACITY", "this.#buffer.length <= KEPT_CAPACITY"],
    ],
  },
  "core/codec/CharCodes.ts": {
    "Whoever asks for a list writes all its items before they are read.": [
      ["{ length }", "{}"],
      ["() => 0", "() => undefined"],
    ],
  },
  "core/codec/Codec.ts": {
    "A text has at least as many bytes as characters; not to count them saves the work.": [
      ["value.length <= max", "true"],
    ],
    [FOR_TYPES]: [
      ["codecs[key]?.write", "codecs[key].write"],
      ["codecs[key]?.read", "codecs[key].read"],
    ],
  },
  "core/codec/ItemSource.ts": {
    "Only a number is a safe integer; the condition tells the type checker.": [['typeof item !== "number"', "false"]],
  },
  "core/codec/JsonPointer.ts": {
    "A pointer that is made after all is found too long at the end.": [
      ["parent.length + text.length >= longestPointer", "false"],
      ["parent.length + text.length >= longestPointer", "parent.length + text.length > longestPointer"],
      ["parent.length + text.length", "parent.length - text.length"],
    ],
    "A key with nothing to escape is the same when it is escaped.": [
      ['!text.includes("~") && !text.includes("/")', "false"],
    ],
  },
  "core/codec/Slab.ts": {
    "Memory of its own, or of a new slab, is as good; it takes longer to get.": [
      ["length > LONGEST_IN_SLAB", "true"],
      ["length > LONGEST_IN_SLAB", "length >= LONGEST_IN_SLAB"],
      ["length > SLAB_BYTES - used", "true"],
      ["length > SLAB_BYTES - used", "length >= SLAB_BYTES - used"],
      ["length > SLAB_BYTES - used", "length <= SLAB_BYTES - used"],
    ],
  },
  "core/codec/StrictJson.ts": {
    "A run behind no text is the text.": [['text === ""', "false"]],
    "A space is plain, and no run ends at one.": [["byte < 0x20", "byte <= 0x20"]],
    "Behind the last byte stands what ends a run too; the condition keeps the loop quick.": [
      ["at < bytes.length", "true"],
      ["at < bytes.length", "at <= bytes.length"],
    ],
    "Both ways make the same text of ASCII bytes.": [
      ["end - start >= LONG_RUN", "true"],
      ["end - start >= LONG_RUN", "false"],
      ["end - start >= LONG_RUN", "end - start > LONG_RUN"],
      ["end - start >= LONG_RUN", "end - start < LONG_RUN"],
      ["end - start", "end + start"],
    ],
    "Nothing else is thrown while a text is read; what were, must not look like a fault of the text.": [
      ["!(cause instanceof Refused)", "false"],
    ],
  },
  "core/codec/StrictSource.ts": {
    "A longer way makes the same text; this one saves the time.": [["short !== undefined", "false"]],
    "What is read beyond the end leaves the place behind it, and the bytes are refused for that.": [
      ["this.#at > this.#bytes.length", "false"],
      ["width > this.#bytes.length - this.#at", "false"],
      ["this.#bytes.length - this.#at", "this.#bytes.length + this.#at"],
    ],
    "No argument of sixteen bytes or more is both as short as can be and an exact integer.": [["info > 27", "false"]],
  },
  "core/codec/Utf8.ts": {
    "Behind the last character is none, and beyond the end of an array of bytes nothing is written.": [
      ["index < text.length", "index <= text.length"],
    ],
    "The library's encoder writes the same bytes; for short texts it is slow to call.": [
      ["unit > 0x7f", "true"],
      ["unit > 0x7f", "unit >= 0x7f"],
    ],
  },
};
