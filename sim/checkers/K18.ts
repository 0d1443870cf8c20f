/**
 * K18: what a peer shows of keys is what its rows say of each, in order, each once: to somebody the active ones whose
 * share opens there and that the token may sign with; to an inventory all that its filter fits, as they stand; of an
 * authority what its commands look like, where it is attached to what somebody is shown. It writes nothing for it.
 */
import type { RejectionCode } from "../../core/base/Rejection.ts";
import { allRows } from "../../core/protocol/AllRows.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Rows } from "../../core/Tables.ts";
import { Violation } from "../base/Violation.ts";
import {
  type IdentitiesAsked,
  identityText,
  type KeyReadAnswer,
  type KeyReadAsked,
  type KeysAsked,
  keyText,
  type Shown,
} from "../oracle/KeyReads.ts";
import { standingRefusal } from "../oracle/LookupRequests.ts";
import { allows, type Grants } from "../requests/Grants.ts";
import type { Checker, Watched } from "./Checker.ts";
import { generationAt, opensAt } from "./KeyFacts.ts";

type Key = Rows["custodyKeys"];
type Generation = Rows["generations"];
type PageAsked = IdentitiesAsked | KeysAsked;

/** Cursors remembered: more than callers hold. */
const REMEMBERED = 256;

const filterText = ({ filter: { assetOwner, status } }: KeysAsked): string =>
  JSON.stringify([assetOwner ?? "", status]);

const mayHaveShare: ReadonlySet<string> = new Set(["ACTIVE", "HISTORICAL"]);

/** The members of a peer's first topology, where that was alone: keys made then are whole at that one. */
const aloneAtFirst = ({ state }: Watched): PeerId | undefined => {
  let first = state?.cluster.membership;
  while (first?.before !== undefined) first = first.before;
  return first?.peerIds.length === 1 ? first.peerIds[0] : undefined;
};

const isWhole = (row: Generation): boolean => row.group.verifyingShares.length === 0;

/** A generation of a key that is destroyed is destroyed with it. */
const asItStands = (key: Key, row: Generation): Generation =>
  key.status === "ACTIVE" || row.state === "DESTROYED"
    ? row
    : { ...row, state: "DESTROYED", destroyedAt: key.updatedAt };

const maySign = (grants: Grants, keyId: string): boolean => allows(grants, `service.key.${keyId}.sign`);

const identityAt = (peer: Watched, key: Key, grants: Grants): Shown | undefined => {
  const row = generationAt(peer.store, key.keyId, key.generation);
  if (key.status !== "ACTIVE" || row?.state !== "ACTIVE" || !maySign(grants, key.keyId)) return undefined;
  const signs = !isWhole(row) || peer.state?.cluster.membership?.peerIds.length === 1;
  return signs && opensAt(peer, row) ? { keyId: key.keyId, text: identityText(key, row) } : undefined;
};

const textAt = (peer: Watched, key: Key, number: number): string | undefined => {
  const row = generationAt(peer.store, key.keyId, number);
  if (row === undefined) return undefined;
  const shown = asItStands(key, row);
  const isElsewhere = isWhole(row) && aloneAtFirst(peer) !== peer.state?.cluster.peer?.peerId;
  const isLacking = mayHaveShare.has(shown.state) && !isElsewhere && !opensAt(peer, row);
  return keyText(key, shown, isLacking ? "SHARE_MISSING" : "OK");
};

/** All that a walk would have to show behind a key, in order. */
const allAt = (peer: Watched, asked: PageAsked, after: string): ReadonlyArray<Shown> =>
  allRows(peer.store, "custodyKeys")
    .toSorted((one, other) => (one.keyId < other.keyId ? -1 : 1))
    .flatMap((key): ReadonlyArray<Shown> => {
      if (key.keyId <= after) return [];
      if (asked._tag === "Identities") {
        const identity = identityAt(peer, key, asked.grants ?? []);
        return identity === undefined ? [] : [identity];
      }
      const { assetOwner, status } = asked.filter;
      const isIn =
        (assetOwner === undefined || key.assetOwner === assetOwner) && (status === undefined || key.status === status);
      return isIn ? [{ keyId: key.keyId, text: textAt(peer, key, key.generation) ?? "nothing" }] : [];
    });

const lineOf = ({ keyId, text }: Shown): string => `${keyId}: ${text}`;

/** Of the description of a command: how its data is written, at most a mebibyte of it. */
const DATA_PARTS = ['"contentEncoding":"base64"', '"maxLength":1398104'];

/** What is wrong with a page; undefined where nothing is. */
const pageFault = (
  peer: Watched,
  asked: PageAsked,
  after: string,
  { items, next }: Extract<KeyReadAnswer, { _tag: "Page" }>,
) => {
  const all = allAt(peer, asked, after);
  const due = all.slice(0, asked.limit);
  if (items.map(lineOf).join("\n") !== due.map(lineOf).join("\n"))
    return `it showed ${items.map(lineOf).join("; ") || "nothing"}, not ${due.map(lineOf).join("; ") || "nothing"}`;
  const [last, left] = [items.at(-1)?.keyId ?? after, all[due.length]?.keyId];
  if (asked._tag === "Identities" && next !== undefined && !maySign(asked.grants ?? [], next))
    return `it named ${next}, which its reader may not sign with`;
  if (next === undefined) return left === undefined ? undefined : `it was the last page, before ${left}`;
  if (next <= after || next < last) return `the next page begins again, behind ${next}`;
  return left !== undefined && next >= left
    ? `the next page begins behind ${next}, which passes over ${left}`
    : undefined;
};

/** The refusal of somebody who wants to know what commands look like, if any. */
const authorityRefusal = (
  peer: Watched,
  { grants = [], keyId, authorityId }: Extract<KeyReadAsked, { _tag: "Authority" }>,
): RejectionCode | undefined => {
  const { store } = peer;
  const key = store.get("custodyKeys", keyId);
  if (!maySign(grants, keyId)) return "ACCESS_DENIED";
  if (key === undefined) return "KEY_NOT_FOUND";
  const row = generationAt(store, keyId, key.generation);
  if (key.status !== "ACTIVE" || row?.state !== "ACTIVE") return "KEY_DESTROYED";
  // The catalog describes what it lists.
  if (identityAt(peer, key, grants) === undefined)
    return isWhole(row) && peer.state?.cluster.membership?.peerIds.length !== 1 ? "KEY_UNSHARED" : "SHARE_MISSING";
  return row.authorities.includes(authorityId) ? undefined : "AUTHORITY_NOT_ATTACHED";
};

/** The refusal that an answer has to be; undefined where it has to be none. */
const refusalOf = (peer: Watched, asked: KeyReadAsked): RejectionCode | undefined => {
  const standing = peer.state && standingRefusal(peer.state);
  const isUnknown = "grants" in asked && asked.grants === undefined;
  if (isUnknown) return "UNAUTHENTICATED";
  if (asked._tag === "Authority" && !maySign(asked.grants ?? [], asked.keyId)) return "ACCESS_DENIED";
  if (standing !== undefined) return standing;
  if (asked._tag === "Authority") return authorityRefusal(peer, asked);
  if (asked._tag !== "Key") return undefined;
  const key = peer.store.get("custodyKeys", asked.keyId);
  if (key === undefined) return "KEY_NOT_FOUND";
  return textAt(peer, key, asked.generation ?? key.generation) === undefined ? "GENERATION_NOT_FOUND" : undefined;
};

/** The key behind which a page begins; undefined where nobody may ask for it so. */
type Place = string | undefined;

const faultOf = (peer: Watched, asked: KeyReadAsked, from: Place, answer: KeyReadAnswer): string | undefined => {
  const refusal = refusalOf(peer, asked);
  if (asked._tag === "Keys" && asked.isBroken === true)
    return answer._tag === "QueryRefused" || (answer._tag === "Refused" && answer.code === refusal)
      ? undefined
      : "its query was taken, which names no owner";
  if (answer._tag === "QueryRefused")
    return from === undefined ? undefined : "its query was refused, with a cursor of its filter or none";
  if (from === undefined) return "its cursor was taken, which came with no page of this filter";
  if (answer._tag === "Refused") return answer.code === refusal ? undefined : `it was refused: ${answer.code}`;
  if (refusal !== undefined) return `it was answered, not refused as ${refusal}`;
  if (asked._tag === "Keys" && answer._tag === "Page" && answer.next !== undefined && answer.cursor === undefined)
    return "no cursor for the next page came with it";
  if (asked._tag === "Identities" || asked._tag === "Keys")
    return answer._tag === "Page" ? pageFault(peer, asked, from, answer) : "it was answered with one key";
  if (answer._tag === "Page") return "it was answered with a page";
  const key = peer.store.get("custodyKeys", asked.keyId);
  if (key === undefined) return "it has no such key";
  if (asked._tag === "Key")
    return answer.text === textAt(peer, key, asked.generation ?? key.generation)
      ? undefined
      : `it showed ${answer.text}`;
  const parts = [`"const":"${key.scheme}"`, ...DATA_PARTS];
  const isRight = answer.text.startsWith("arbitrary arbitrary ") && parts.every((each) => answer.text.includes(each));
  return isRight ? undefined : `it described ${answer.text}`;
};

/** Where an answer goes on, by the cursor that came with it. */
interface Given {
  readonly filter: string;
  readonly after: string;
}

const placeOf = (given: ReadonlyMap<string, Given>, asked: KeyReadAsked): Place => {
  if (asked._tag === "Identities") return asked.after;
  if (asked._tag !== "Keys" || asked.cursor === undefined) return "";
  const known = given.get(asked.cursor);
  return known?.filter === filterText(asked) ? known.after : undefined;
};

export const K18 = (): Checker => {
  const given = new Map<string, Given>();
  const note = (asked: KeyReadAsked, answer: KeyReadAnswer): void => {
    if (asked._tag !== "Keys" || answer._tag !== "Page" || answer.next === undefined) return;
    if (answer.cursor !== undefined) given.set(answer.cursor, { filter: filterText(asked), after: answer.next });
    const [oldest] = given.size > REMEMBERED ? given.keys() : [];
    if (oldest !== undefined) given.delete(oldest);
  };
  return {
    id: "K18",
    keysLooked: (peer, asked, answer, transactions) => {
      const from = placeOf(given, asked);
      note(asked, answer);
      // Where rows are known to be lost, any may be.
      if (!peer.honest || peer.state?.fitness.integrityFault !== undefined) return;
      const about = `peer ${peer.slot} was asked for ${JSON.stringify(asked)}`;
      if (transactions > 0) throw new Violation("K18", about, `it wrote ${transactions} transaction(s)`);
      const fault = faultOf(peer, asked, from, answer);
      if (fault !== undefined) throw new Violation("K18", about, fault);
    },
  };
};
