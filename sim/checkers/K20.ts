/**
 * K20: a change of a key that is refused for what the key is, is refused for what some peer's rows have said of it: it
 * was made otherwise, is destroyed, or has moved on. A repeated creation finds its key.
 */
import type { RejectionCode } from "../../core/base/Rejection.ts";
import type { Rows } from "../../core/Tables.ts";
import { Violation } from "../base/Violation.ts";
import { isKeyEnding, isKeyMaking, type KeyEnding, type KeyMaking } from "../requests/KeyRequests.ts";
import type { Checker } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";

type Key = Rows["custodyKeys"];

/** The scheme of an algorithm whose caller names none. */
const USUAL: Readonly<Record<string, string>> = { ED25519: "EdDSA", SECP256K1: "BIP340", P256: "ECDSA" };

/** Whether a creation asks for the key as it is; whose it is may have been said since. */
const isAsked = ({ algorithm = "", scheme = USUAL[algorithm], assetOwner }: KeyMaking, key: Key): boolean =>
  key.algorithm === algorithm &&
  key.scheme === scheme &&
  (assetOwner === undefined && key.generation > 1 ? true : key.assetOwner === assetOwner);

/** By code: whether a key as it was refuses the request so. */
const grounds: Partial<Record<RejectionCode, (asked: KeyMaking | KeyEnding, key: Key) => boolean>> = {
  KEY_ALREADY_EXISTS: (asked, key) =>
    isKeyMaking(asked) && asked.act === "create" && key.status === "ACTIVE" && !isAsked(asked, key),
  KEY_DESTROYED: (_asked, key) => key.status === "DESTROYED",
  GENERATION_MOVED: (asked, key) => key.generation !== asked.base,
};

const textOf = ({ status, generation, algorithm, scheme, assetOwner }: Key): string =>
  `${status}, generation ${generation}, ${algorithm} and ${scheme}, of ${assetOwner ?? "nobody"}`;

export const K20 = (ghost: Ghost): Checker => {
  /** By key: what any peer has had of it, each once. */
  const had = new Map<string, Map<string, Key>>();
  return {
    id: "K20",
    written: {
      custodyKeys: (_peer, write) => {
        if (write.op === "remove") return;
        const known = had.get(write.row.keyId) ?? new Map<string, Key>();
        had.set(write.row.keyId, known.set(textOf(write.row), write.row));
      },
    },
    replied: ({ slot, honest }, { requestId, answer, asked }) => {
      if (!honest || ghost.lying !== 0 || answer._tag !== "Rejected" || asked === undefined) return;
      if (!(isKeyMaking(asked) || isKeyEnding(asked)) || asked.edge?.refusedAs !== undefined) return;
      const isGround = grounds[answer.rejection.code];
      const known = [...(had.get(asked.keyId)?.values() ?? [])];
      if (isGround === undefined || known.some((key) => isGround(asked, key))) return;
      throw new Violation(
        "K20",
        `peer ${slot} refused request ${requestId}, ${asked.kind} of ${asked.keyId} upon generation ${asked.base}, with ${answer.rejection.code}`,
        `that key never was so anywhere: ${known.map(textOf).join("; ") || "nobody had it"}`,
      );
    },
  };
};
