/** Keys and generations as entries of the registry root. A change counts once, in its key's revision. */
import type { Contents, Entry } from "../../protocol/Command.ts";
import type { Crypto } from "../../crypto/Crypto.ts";
import type { RowView } from "../../protocol/Tables.ts";
import { approverRows } from "../approvers/Tables.ts";
import type { StepContext } from "../../protocol/Event.ts";
import { type KeyCrypto, suiteOf } from "../../threshold/Suite.ts";
import { custodyIdentity } from "./CustodyIdentity.ts";
import { custodyOwner } from "./KeyId.ts";
import type { Key } from "./KeyRecord.ts";
import { replaceGeneration, replaceKey } from "./KeyRoot.ts";
import { generationKey, keyRows } from "./Tables.ts";

const KEYS = "keys/";
const GENERATIONS = "generations/";

const keyEntries = (view: RowView, after: string, limit: number, crypto: Crypto): ReadonlyArray<Entry> => {
  const rows = keyRows(view);
  return rows.scan("custodyKeys", after, limit).map(({ key, row }) => ({
    key: `${KEYS}${key}`,
    revision: row.revision,
    isCounted: false,
    isSound: rows.get("generations", generationKey(row.keyId, row.generation)) !== undefined,
    addTo: (set) => replaceKey(crypto, set, undefined, row),
  }));
};

const generationEntries = (view: RowView, after: string, limit: number, crypto: Crypto): ReadonlyArray<Entry> => {
  const rows = keyRows(view);
  return rows.scan("generations", after, limit).map(({ key, row }) => {
    const owned = rows.get("custodyKeys", row.keyId);
    const owner = owned && approverRows(view).get("keys", custodyIdentity(crypto, owned, row));
    return {
      key: `${GENERATIONS}${key}`,
      revision: 0,
      isCounted: false,
      isSound: owner?.id === custodyOwner(row.keyId),
      addTo: (set) => replaceGeneration(crypto, set, undefined, row),
    };
  });
};

export const keyContents: Contents = (crypto, view, after, limit) => {
  const isPast = after.startsWith(GENERATIONS);
  const keys = isPast ? [] : keyEntries(view, after.slice(KEYS.length), limit, crypto);
  if (keys.length === limit) return keys;
  const from = isPast ? after.slice(GENERATIONS.length) : "";
  return [...keys, ...generationEntries(view, from, limit - keys.length, crypto)];
};

const isShareable = (keyCrypto: KeyCrypto, { algorithm, scheme }: Key): boolean => {
  const suite = suiteOf(keyCrypto, algorithm, scheme);
  return suite?.shared !== undefined && suite.solo.scalarOf !== undefined;
};

const PAGE = 256;

/** The ids of keys that no members can share, at most so many. */
export const unshareable = (
  { view, keyCrypto }: Pick<StepContext, "view" | "keyCrypto">,
  limit: number,
): ReadonlyArray<string> => {
  const left: Array<string> = [];
  for (let after = ""; left.length < limit; ) {
    const page = keyRows(view).scan("custodyKeys", after, PAGE);
    for (const { row } of page)
      if (row.status === "ACTIVE" && left.length < limit && !isShareable(keyCrypto, row)) left.push(row.keyId);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    after = last.key;
  }
  return left;
};
