/** Of `core` itself, outside its folders. */
import { type ExplainedFiles, FOR_TYPES, REMEMBERED } from "./Reasons.ts";

export const core: ExplainedFiles = {
  "core/Boot.ts": {
    "A page that is not full is the last one, and after it another would be found empty: the conditions save looking.":
      [
        ["last === undefined || page.length < PAGE", "last === undefined && page.length < PAGE"],
        ["last === undefined", "false"],
        ["page.length < PAGE", "false"],
      ],
    [`${FOR_TYPES} There is a row of every other member from the founding on, and one of the slot of whatever is applied.`]:
      [
        ["seen.get(signerOf(vote))?.incarnation", "seen.get(signerOf(vote)).incarnation"],
        ['view.get("slots", slotKey(epoch, seq))?.ack', 'view.get("slots", slotKey(epoch, seq)).ack'],
      ],
  },
  "core/Changes.ts": {
    "The same row is found by its key and one by one, with an index that is made early, late, again or never: it saves looking through many.":
      [
        ["this.#writes.length > FEW && this.#latest === undefined", "true"],
        ["this.#writes.length > FEW && this.#latest === undefined", "false"],
        [
          "this.#writes.length > FEW && this.#latest === undefined",
          "this.#writes.length > FEW || this.#latest === undefined",
        ],
        ["this.#writes.length > FEW", "true"],
        ["this.#writes.length > FEW", "this.#writes.length >= FEW"],
        ["this.#writes.length > FEW", "this.#writes.length <= FEW"],
        ["this.#latest === undefined", "true"],
        ["this.#latest === undefined", "true"],
        ["this.#latest === undefined", "this.#latest !== undefined"],
      ],
    "Each row that is passed on the way is compared, and behind the last one is none: a walk that begins elsewhere, or further on, ends where it would have.":
      [
        ["-1", "+1"],
        ["this.#writes.length - 1", "this.#writes.length + 1"],
        ["at < 0", "false"],
      ],
    [`${FOR_TYPES} Whatever the index leads to has its entry, written when it was indexed.`]: [
      ["-1", "+1"],
      ["[]", '["Stryker was here"]'],
    ],
    "Where every change is left, a copy without the others is the same list.": [
      ["this.#count === this.#writes.length", "false"],
    ],
  },
  "core/Tables.ts": {
    [REMEMBERED]: [
      ["known !== undefined", "false"],
      ["current.epoch !== epoch", "true"],
    ],
    "How many keys are remembered shows in memory alone.": [
      ["made.size >= REMEMBERED_KEYS", "true"],
      ["made.size >= REMEMBERED_KEYS", "false"],
      ["made.size >= REMEMBERED_KEYS", "made.size > REMEMBERED_KEYS"],
      ["made.size >= REMEMBERED_KEYS", "made.size < REMEMBERED_KEYS"],
    ],
  },
  "core/Turn.ts": {
    [`${FOR_TYPES} A batch is made of one request at least, a tree has a proof for each of its leaves, and of acknowledgements there are as many as members.`]:
      [
        ["first !== undefined", "true"],
        ["[]", '["Stryker was here"]'],
        ["ack !== undefined", "true"],
      ],
    "The drafts of the only request, and the statements of one that was alone, are the whole list: the conditions save a copy.":
      [
        ["first !== undefined && requests.length === 1", "false"],
        ["first !== undefined", "first === undefined"],
        ["drafts.length === signed.length", "false"],
      ],
    "Where nothing is prunable, and nobody was heard of, there is no row to be found: the conditions save looking.": [
      ["this.state.prunable === 0", "false"],
      ["seen === seenWritten", "false"],
    ],
  },
};
