/**
 * Mutants of `core` that no test can tell from what is written, or that none needs to, and why. One is known by its
 * file, the code that is changed and what it is changed to; `npm run mutate` takes those out of its list.
 */
export interface Explanation {
  readonly file: string;
  readonly original: string;
  readonly replacement: string;
  readonly why: string;
}

const refusals = "core/protocol/Refusals.ts";
const lateCopy = "core/protocol/LateCopy.ts";

export const explained: ReadonlyArray<Explanation> = [
  {
    file: refusals,
    original: "joiners.length > 0",
    replacement: "true",
    why: "Nobody to put first leaves the queue as it was; the condition saves a copy of it.",
  },
  {
    file: refusals,
    original: "joiners.length > 0",
    replacement: "joiners.length >= 0",
    why: "Nobody to put first leaves the queue as it was; the condition saves a copy of it.",
  },
  {
    file: refusals,
    original: "entry !== undefined",
    replacement: "true",
    why: "There is a signed refusal for each draft; the condition tells the type checker.",
  },
  {
    file: refusals,
    original: "refusal === undefined",
    replacement: "false",
    why: "A writer aborts what it has pledged to give up, and pledges upon a refusal that it notes with the round at once; the condition tells the type checker.",
  },
  {
    file: lateCopy,
    original: "until < receivedAt",
    replacement: "until <= receivedAt",
    why: "What is written again is what was there.",
  },
  {
    file: lateCopy,
    original: "until !== undefined",
    replacement: "true",
    why: "Nothing compares as earlier than what is not there; the condition tells the type checker.",
  },
];
