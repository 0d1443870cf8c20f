/**
 * K5b: what helpers tell in repairs says nothing of their shares. The numbers that hide a share are of one session: two
 * that have one in common are equations, whose solution is the share.
 */
import { Encoding } from "effect";
import type { Secret } from "../../core/threshold/Secret.ts";
import { RecentMap } from "../../runtime/RecentMap.ts";
import { Violation } from "../base/Violation.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";

/** Summands remembered at least. */
const REMEMBERED = 8_192;

/** What a helper keeps of a repair: for each generation what each helper is told. */
interface Helping {
  readonly sessionId: string;
  readonly parts: ReadonlyArray<ReadonlyMap<number, Secret>>;
}

interface Slice {
  readonly helping: ReadonlyMap<number, Helping>;
}

export const K5b = (ghost: Ghost): Checker => {
  /** By slot and summand: the session that it was drawn for. */
  const drawn = new RecentMap<string>(REMEMBERED);
  const seen = new WeakSet<Helping["parts"]>();
  const note = (slot: number, { sessionId, parts }: Helping): void => {
    for (const part of parts.flatMap((each) => [...each.values()])) {
      const name = `${slot} ${Encoding.encodeHex(part.expose())}`;
      const before = drawn.get(name);
      if (before !== undefined && before !== sessionId)
        throw new Violation(
          "K5b",
          `peer ${slot} hid its share by a number in repair ${before}`,
          `it hides it by the same number in repair ${sessionId}`,
        );
      drawn.set(name, sessionId);
    }
  };
  return {
    id: "K5b",
    stepped: ({ slot, state }) => {
      const slice = state?.modules["repairs"] as Slice | undefined;
      if (slice === undefined || ghost.isLying(slot)) return;
      for (const helping of slice.helping.values()) {
        if (seen.has(helping.parts)) continue;
        seen.add(helping.parts);
        note(slot, helping);
      }
    },
  };
};
