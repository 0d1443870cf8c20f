/** The changes of commands to the rows of keys, and with them to the registry root. */
import { InvariantViolation } from "../../base/Invariant.ts";
import type { Digest } from "../../base/Digest.ts";
import type { Step } from "../../protocol/Step.ts";
import { approverTables } from "../approvers/Tables.ts";
import { custodyOwner } from "./KeyId.ts";
import type { Generation, Key, Making } from "./KeyRecord.ts";
import { replaceGeneration, replaceKey } from "./KeyRoot.ts";
import { generationKey, type KeyRows, keyRows, keyTables } from "./Tables.ts";

/** A certified generation: the key as it is from then on, and the identity of the key. */
export interface MadeGeneration {
  readonly key: Key;
  readonly generation: Generation;
  readonly keyIdentity: Digest;
}

/** A certified destruction: the key from then on, and the generation as it is destroyed. */
export interface DestroyedGeneration {
  readonly key: Key;
  readonly generation: Generation;
}

/** What becomes of a generation when the next one is made. */
const stateBefore = (next: Making): Generation["state"] => (next === "REFRESH" ? "SUPERSEDED" : "HISTORICAL");

const drop = (step: Step, table: keyof KeyRows, key: string): void => {
  const rows = step.rows(keyTables);
  if (rows.current(table, key) !== undefined) rows.write({ op: "remove", table, key });
};

const putKey = (step: Step, before: Key | undefined, key: Key): void => {
  step.rows(keyTables).put("custodyKeys", key.keyId, key);
  const { set, approvers } = step.state.registry;
  step.state.registry = { set: replaceKey(step.context.crypto, set, before, key), approvers };
};

const putGeneration = (step: Step, before: Generation | undefined, now: Generation): void => {
  step.rows(keyTables).put("generations", generationKey(now.keyId, now.generation), now);
  const { set, approvers } = step.state.registry;
  step.state.registry = { set: replaceGeneration(step.context.crypto, set, before, now), approvers };
};

/** Removes this peer's share of a generation from its disk, if it has one. */
export const eraseShare = (step: Step, keyId: string, generation: number): void =>
  drop(step, "shares", generationKey(keyId, generation));

/** What was made for a generation is this peer's share of it from now on, if it is of this very generation. */
export const takePending = (step: Step, { keyId, generation, transcript }: Generation): void => {
  const rows = step.rows(keyTables);
  const key = generationKey(keyId, generation);
  const pending = rows.current("pending", key);
  if (pending === undefined) return;
  rows.write({ op: "remove", table: "pending", key });
  if (pending.transcript === transcript) rows.put("shares", key, { box: pending.box });
};

const claim = (step: Step, { key, keyIdentity }: MadeGeneration): void => {
  const rows = step.rows(approverTables);
  const owner = custodyOwner(key.keyId);
  const known = rows.view.get("keys", keyIdentity);
  if (known !== undefined && known.id !== owner)
    throw new InvariantViolation("S7", "a certified key is owned by an approver here");
  if (known === undefined) rows.write({ op: "insert", table: "keys", key: keyIdentity, row: { id: owner } });
};

/** Stores a certified new key, or the next generation of a key. */
export const applyGeneration = (step: Step, made: MadeGeneration): void => {
  const { key, generation } = made;
  const { view } = step.rows(keyTables);
  const before = view.get("custodyKeys", key.keyId);
  // No other change can have come between: this peer checked the generation when it took the lock that it still holds.
  if ((before?.revision ?? 0) !== key.revision - 1 || (before?.generation ?? 0) !== generation.generation - 1)
    throw new InvariantViolation("K6", "a certified generation does not follow the one that is stored here");
  const last = before && view.get("generations", generationKey(before.keyId, before.generation));
  if (last !== undefined) putGeneration(step, last, { ...last, state: stateBefore(generation.madeBy) });
  putKey(step, before, key);
  putGeneration(step, undefined, generation);
  claim(step, made);
  takePending(step, generation);
};

/** The state of a generation that is taken over, by what is known of the next one. */
const stateAmong = (step: Step, { keyId, generation }: Generation): Generation["state"] => {
  const next = step.rows(keyTables).current("generations", generationKey(keyId, generation + 1));
  return next === undefined ? "ACTIVE" : stateBefore(next.madeBy);
};

const installKey = (step: Step, key: Key): boolean => {
  const rows = step.rows(keyTables);
  const known = rows.current("custodyKeys", key.keyId);
  if (known !== undefined && known.revision >= key.revision) return false;
  rows.put("custodyKeys", key.keyId, key);
  return true;
};

// What is taken over may turn out to be false, or be aborted later: this peer's own shares, and what it has made, stay as
// they are until it takes part with the result (makeKey/TakenOver.ts).

/**
 * Takes a generation over from another member; its changes may come in any order.
 *
 * @returns whether reads may show a difference
 */
export const installGeneration = (step: Step, { key, generation, keyIdentity }: MadeGeneration): boolean => {
  const rows = step.rows(keyTables);
  const at = generationKey(generation.keyId, generation.generation);
  const known = rows.current("generations", at);
  const isKnown = known?.transcript === generation.transcript;
  if (!isKnown) rows.put("generations", at, { ...generation, state: stateAmong(step, generation) });
  const lastAt = generationKey(generation.keyId, generation.generation - 1);
  const last = rows.current("generations", lastAt);
  if (last?.state === "ACTIVE") rows.put("generations", lastAt, { ...last, state: stateBefore(generation.madeBy) });
  const isNewest = installKey(step, key);
  const owners = step.rows(approverTables);
  const owner = custodyOwner(generation.keyId);
  if (owners.current("keys", keyIdentity)?.id !== owner) owners.put("keys", keyIdentity, { id: owner });
  return !isKnown || isNewest;
};

/**
 * Takes away a generation that no other member has. What is left of the key comes again with the certificates of its
 * other changes.
 */
export const undoGeneration = (step: Step, { generation, keyIdentity }: MadeGeneration): void => {
  const { keyId, generation: number } = generation;
  drop(step, "custodyKeys", keyId);
  drop(step, "generations", generationKey(keyId, number));
  drop(step, "generations", generationKey(keyId, number - 1));
  const owners = step.rows(approverTables);
  if (owners.current("keys", keyIdentity)?.id === custodyOwner(keyId))
    owners.write({ op: "remove", table: "keys", key: keyIdentity });
};

const PAGE = 256;

/** Erases all shares of a key, one that was pending until this very step among them. */
const eraseAll = (step: Step, keyId: string): void => {
  for (const { row } of keyRows(step.view).scan("pending", generationKey(keyId, 0), PAGE))
    if (row.keyId === keyId) eraseShare(step, keyId, row.generation);
  const last = generationKey(keyId, Number.MAX_SAFE_INTEGER);
  for (let after = generationKey(keyId, 0); ; ) {
    const page = keyRows(step.view)
      .scan("shares", after, PAGE)
      .filter(({ key }) => key <= last);
    for (const { key } of page) drop(step, "shares", key);
    const end = page.at(-1);
    if (end === undefined) return;
    after = end.key;
  }
};

const eraseDestroyed = (step: Step, { key, generation }: DestroyedGeneration): void => {
  if (key.status === "DESTROYED") eraseAll(step, key.keyId);
  else eraseShare(step, key.keyId, generation.generation);
};

/** Destroys a generation, or a key with all of them, and this peer's shares. */
export const applyDestruction = (step: Step, destroyed: DestroyedGeneration): void => {
  const { key, generation } = destroyed;
  const { view } = step.rows(keyTables);
  const before = view.get("custodyKeys", key.keyId);
  const known = view.get("generations", generationKey(key.keyId, generation.generation));
  if (before?.revision !== key.revision - 1 || known === undefined)
    throw new InvariantViolation("K6", "a certified destruction is of a key that is another one here");
  putKey(step, before, key);
  putGeneration(step, known, generation);
  eraseDestroyed(step, destroyed);
};

/** Takes a destruction over from another member, before or after what it destroys; says whether reads may differ. */
export const installDestruction = (step: Step, { key, generation }: DestroyedGeneration): boolean => {
  const rows = step.rows(keyTables);
  const at = generationKey(key.keyId, generation.generation);
  const isKnown = rows.current("generations", at)?.state === "DESTROYED";
  if (!isKnown) rows.put("generations", at, generation);
  const isNewest = installKey(step, key);
  return !isKnown || isNewest;
};

/** Takes the record of a destruction away; shares that it erased are gone. */
export const undoDestruction = (step: Step, { key, generation }: DestroyedGeneration): void => {
  drop(step, "custodyKeys", key.keyId);
  drop(step, "generations", generationKey(key.keyId, generation.generation));
};
