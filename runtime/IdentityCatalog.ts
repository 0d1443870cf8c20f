/**
 * The identity catalog (contract 2.8, 4.3): what its reader may sign with here, and what commands look like. Reads like
 * others; only this peer's share of each key is opened besides.
 */
import { Either } from "effect";
import type { ActorCheck } from "../core/auth/ActorCheck.ts";
import { authorize } from "../core/auth/Authorization.ts";
import { Grants } from "../core/auth/Permission.ts";
import { type Rejection, rejection } from "../core/base/Rejection.ts";
import type { JsonSchema } from "../core/codec/Shape.ts";
import { heldShare, isSolo } from "../core/commands/keys/HeldShare.ts";
import { arbitraryCommandFor } from "../core/commands/keys/KeyBodies.ts";
import { ARBITRARY, isKeyId, keyPermission } from "../core/commands/keys/KeyId.ts";
import { authorityNotAttached, keyDestroyed, keyNotFound, keyUnshared } from "../core/commands/keys/KeyRefusals.ts";
import type { Generation, Key } from "../core/commands/keys/KeyRecord.ts";
import { generationKey, keyRows } from "../core/commands/keys/Tables.ts";
import { isAttached } from "../core/commands/signWithKey/Signable.ts";
import type { ShareVault } from "../core/threshold/Suite.ts";
import type { KeyView } from "./PeerStore.ts";
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
  /** Ids of the authorities of the active generation that this peer lets be used. */
  readonly authorities: ReadonlyArray<string>;
}

export interface IdentityPage {
  readonly items: ReadonlyArray<Identity>;
  /**
   * The last key that was examined; undefined where there are no more. It is one that its reader's token names, who may
   * ask for it by its id, even where it cannot be used here; of all others no page says a word.
   */
  readonly nextCursor: string | undefined;
}

export const IDENTITIES_BY_DEFAULT = 50;
export const MOST_IDENTITIES = 100;
/** Keys examined for one page: those that cannot be used here cost their reader a page, never this peer a scan. */
const EXAMINED = 1_000;

/** Keys looked at before other work may go on: a few milliseconds. */
const SLICE = 16;

/** Comes right after a key id, and before the first one. */
const AFTER = "\u0000";

interface ActiveKey {
  readonly key: Key;
  readonly generation: Generation;
}

const shareMissing = rejection(
  "SHARE_MISSING",
  "This peer has no share of the key that opens here.",
  "Ask another peer; an operator repairs this one, or restores it from its backup.",
);

/**
 * The one judgement of what is in the catalog, for its list and its descriptions: a key that is whole here, with which
 * this peer could sign. Whether its reader may is asked before.
 *
 * @returns left is 404 `KEY_NOT_FOUND`, 409 `KEY_DESTROYED` and `KEY_UNSHARED`, 503 `SHARE_MISSING`, or
 *   `INTEGRITY_FAILURE` where a row does not hold, or may be lost
 */
const inCatalog = (ports: CatalogPorts, keyId: string): Either.Either<ActiveKey, Rejection> =>
  guarded(ports, () => {
    const {
      cluster: { membership, peer },
      fitness,
    } = ports.state;
    const rows = keyRows(ports.view);
    const key = rows.get("custodyKeys", keyId);
    // Where rows are known to be lost, one that is not there may be one of them.
    if (key === undefined) return Either.left(fitness.integrityFault === undefined ? keyNotFound : damaged);
    const generation = rows.get("generations", generationKey(keyId, key.generation));
    if (key.status !== "ACTIVE" || generation?.state !== "ACTIVE") return Either.left(keyDestroyed);
    if (membership === undefined || peer === undefined) return Either.left(shareMissing);
    // Whole since before a promotion: it signs nothing until it is refreshed.
    if (isSolo(generation) && membership.peerIds.length > 1) return Either.left(keyUnshared);
    const share = heldShare(ports, membership, peer.peerId, generation);
    share?.wipe();
    return share === undefined ? Either.left(shareMissing) : Either.right({ key, generation });
  });

const identityOf = (settings: CatalogPorts["settings"], { key, generation }: ActiveKey): Identity => ({
  keyId: key.keyId,
  algorithm: key.algorithm,
  generation: generation.generation,
  authorities: generation.authorities.filter((id) => isAttached(settings, generation, id)),
});

/**
 * One page of identities, ascending by key id. One that is tampered with, destroyed, or without a share that opens here
 * is left out. Keys that the actor may not sign with are passed over unseen. Pauses after every few keys, so that something else may be done; whether this peer may answer is judged
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
  const words = grants.words(keyPermission("*", "sign"));
  const items: Array<Identity> = [];
  let last = lastSeen;
  let examined = 0;
  let from = words.seek(lastSeen + AFTER);
  for (;;) {
    const now = ports();
    const refusal = readRefusal(now.state);
    if (refusal !== undefined) return Either.left(refusal);
    const start = from;
    if (start === undefined) return Either.right({ items, nextCursor: undefined });
    const found = guarded(now, () => Either.right(now.view.keys("custodyKeys", start, SLICE)));
    if (Either.isLeft(found)) return Either.left(found.left);
    for (const keyId of found.right) {
      if (from === undefined || keyId < from) continue;
      from = words.seek(keyId + AFTER);
      if (!grants.permit(keyPermission(keyId, "sign"))) continue;
      if (items.length === limit || examined === EXAMINED) return Either.right({ items, nextCursor: last });
      const active = inCatalog(now, keyId);
      if (Either.isRight(active)) items.push(identityOf(now.settings, active.right));
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

/**
 * What commands to an authority of a key look like. The schema comes from the very shape that reads them.
 *
 * @returns left is 401 or 403 for the actor, whatever {@link readRefusal} and {@link inCatalog} say, and 404
 *   `AUTHORITY_NOT_ATTACHED`
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
  const described = inCatalog(ports, keyId);
  if (Either.isLeft(described)) return Either.left(described.left);
  const { key, generation } = described.right;
  if (!isAttached(settings, generation, authorityId)) return Either.left(authorityNotAttached);
  return Either.right({
    id: ARBITRARY,
    type: ARBITRARY,
    version: undefined,
    description: undefined,
    commandSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      ...arbitraryCommandFor(key.scheme).schema,
    },
  });
};
