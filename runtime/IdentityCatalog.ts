/**
 * The identity catalog (contract 2.8, 4.3): what its reader may sign with here, and what commands look like. Reads like
 * others; only this peer's share of each key is opened besides.
 */
import { Either } from "effect";
import type { ActorCheck } from "../core/auth/ActorCheck.ts";
import { authorize } from "../core/auth/Authorization.ts";
import { Grants } from "../core/auth/Permission.ts";
import type { Rejection } from "../core/base/Rejection.ts";
import type { JsonSchema } from "../core/codec/Shape.ts";
import { heldShare, isSolo } from "../core/commands/keys/HeldShare.ts";
import { arbitraryCommandFor } from "../core/commands/keys/KeyBodies.ts";
import { ARBITRARY, isKeyId, keyPermission } from "../core/commands/keys/KeyId.ts";
import { authorityNotAttached, keyDestroyed, keyNotFound } from "../core/commands/keys/KeyRefusals.ts";
import type { Generation, Key } from "../core/commands/keys/KeyRecord.ts";
import { generationKey, keyRows } from "../core/commands/keys/Tables.ts";
import { isAttached } from "../core/commands/signWithKey/Signable.ts";
import type { ShareVault } from "../core/threshold/Suite.ts";
import { IntegrityFailure, type KeyView } from "./PeerStore.ts";
import { damaged, guarded, type ReadPorts, readRefusal } from "./Reads.ts";

export interface CatalogPorts extends ReadPorts {
  readonly view: KeyView & ReadPorts["view"];
  /** Present while the peer is unsealed. */
  readonly shareVault: ShareVault | undefined;
}

export interface Identity {
  readonly keyId: string;
  readonly algorithm: string;
  readonly generation: number;
  /** Ids of the authorities attached to the active generation. */
  readonly authorities: ReadonlyArray<string>;
}

export interface IdentityPage {
  readonly items: ReadonlyArray<Identity>;
  /** The last key that was examined; undefined where there are no more. */
  readonly nextCursor: string | undefined;
}

export const IDENTITIES_BY_DEFAULT = 50;
export const MOST_IDENTITIES = 100;
/** Keys examined for one page: others' keys cost their reader a page, never this peer a scan. */
const EXAMINED = 1_000;

/** Keys looked at before other work may go on: a few milliseconds. */
const SLICE = 16;

/** Comes right after a key id, and before the first one. */
const AFTER = "\u0000";

interface ActiveKey {
  readonly key: Key;
  readonly generation: Generation;
}

/** The key with its active generation; undefined where there is none, or it is destroyed. */
const activeKey = ({ view }: Pick<CatalogPorts, "view">, keyId: string): ActiveKey | undefined => {
  const rows = keyRows(view);
  const key = rows.get("custodyKeys", keyId);
  if (key?.status !== "ACTIVE") return undefined;
  const generation = rows.get("generations", generationKey(keyId, key.generation));
  return generation?.state === "ACTIVE" ? { key, generation } : undefined;
};

/** The key as an item, if it is whole here and this peer could sign with it. */
const identityOf = (ports: CatalogPorts, keyId: string): Identity | undefined => {
  const {
    cluster: { membership, peer },
  } = ports.state;
  try {
    const active = activeKey(ports, keyId);
    if (active === undefined || membership === undefined || peer === undefined) return undefined;
    // Whole since before a promotion: it signs nothing until it is refreshed.
    if (isSolo(active.generation) && membership.peerIds.length > 1) return undefined;
    const share = heldShare(ports, membership, peer.peerId, active.generation);
    if (share === undefined) return undefined;
    share.wipe();
    const { algorithm } = active.key;
    const { generation, authorities } = active.generation;
    return { keyId, algorithm, generation, authorities };
  } catch (fault) {
    if (!(fault instanceof IntegrityFailure)) throw fault;
    ports.integrityLost(fault.where);
    return undefined;
  }
};

/**
 * One page of identities, ascending by key id. One that is tampered with, destroyed, or without a share that opens here
 * is left out. Pauses after every few keys, so that something else may be done; whether this peer may answer is judged
 * anew after that.
 *
 * @param ports those of this moment
 * @param lastSeen the last page's `nextCursor`; empty for the first page
 * @param limit from 1 to {@link MOST_IDENTITIES}
 * @returns left is 401 for the actor, what {@link readRefusal} says, or `INTEGRITY_FAILURE` where a key may be lost
 */
export function* identityPage(
  ports: () => CatalogPorts,
  actor: ActorCheck,
  lastSeen: string,
  limit: number,
): Generator<undefined, Either.Either<IdentityPage, Rejection>> {
  const { clock, settings } = ports();
  const claims = authorize({ ...clock, settings }, actor, []);
  if (Either.isLeft(claims)) return Either.left(claims.left);
  const grants = new Grants(claims.right.permissions);
  const items: Array<Identity> = [];
  let last = lastSeen;
  let examined = 0;
  for (;;) {
    const now = ports();
    const refusal = readRefusal(now.state);
    if (refusal !== undefined) return Either.left(refusal);
    const from = last + AFTER;
    const found = guarded(now, () => Either.right(now.view.keys("custodyKeys", from, SLICE)));
    if (Either.isLeft(found)) return Either.left(found.left);
    for (const keyId of found.right) {
      if (items.length === limit || examined === EXAMINED) return Either.right({ items, nextCursor: last });
      const identity = grants.permit(keyPermission(keyId, "sign")) ? identityOf(now, keyId) : undefined;
      if (identity !== undefined) items.push(identity);
      last = keyId;
      examined += 1;
    }
    if (found.right.length < SLICE) return Either.right({ items, nextCursor: undefined });
    yield;
  }
}

export interface AuthorityDescription {
  readonly id: string;
  readonly type: string;
  readonly version: string | undefined;
  readonly description: string | undefined;
  /** JSON Schema of the complete command object. */
  readonly commandSchema: JsonSchema;
}

/** The scheme of a key that has the authority. */
const schemeOf = (ports: CatalogPorts, keyId: string, authorityId: string): Either.Either<string, Rejection> =>
  guarded(ports, () => {
    const key = keyRows(ports.view).get("custodyKeys", keyId);
    // Where rows are known to be lost, one that is not there may be one of them.
    if (key === undefined) return Either.left(ports.state.fitness.integrityFault === undefined ? keyNotFound : damaged);
    const active = activeKey(ports, keyId);
    if (active === undefined) return Either.left(keyDestroyed);
    if (!isAttached(ports.settings, active.generation, authorityId)) return Either.left(authorityNotAttached);
    return Either.right(key.scheme);
  });

/**
 * What commands to an authority of a key look like. The schema comes from the very shape that reads them.
 *
 * @returns left is 401 or 403 for the actor, whatever {@link readRefusal} says, 404 `KEY_NOT_FOUND` and
 *   `AUTHORITY_NOT_ATTACHED`, 409 `KEY_DESTROYED`, and `INTEGRITY_FAILURE` where a row does not hold
 */
export const authorityDescription = (
  ports: CatalogPorts,
  actor: ActorCheck,
  keyId: string,
  authorityId: string,
): Either.Either<AuthorityDescription, Rejection> => {
  const { clock, settings, state } = ports;
  // Of what is no key id no permission can speak, and nothing repeats it.
  const needed = isKeyId(keyId) ? [keyPermission(keyId, "sign")] : [];
  const claims = authorize({ ...clock, settings }, actor, needed);
  if (Either.isLeft(claims)) return Either.left(claims.left);
  const refusal = readRefusal(state) ?? (isKeyId(keyId) ? undefined : keyNotFound);
  if (refusal !== undefined) return Either.left(refusal);
  const described = schemeOf(ports, keyId, authorityId);
  if (Either.isLeft(described)) return Either.left(described.left);
  return Either.right({
    id: ARBITRARY,
    type: ARBITRARY,
    version: undefined,
    description: undefined,
    commandSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      ...arbitraryCommandFor(described.right).schema,
    },
  });
};
