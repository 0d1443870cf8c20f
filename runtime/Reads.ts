/**
 * Reads beside the mailbox: they look at committed rows and the published state,
 * wait for nobody and write nothing (contract 10.1, 10.2; S25).
 */
import { Either } from "effect";
import { memoized } from "../core/base/Memo.ts";
import { parseApproverRef } from "../core/credential/ApproverRef.ts";
import { refDigest } from "../core/credential/SignatureCredential.ts";
import type { Crypto } from "../core/crypto/Crypto.ts";
import type { ActorCheck } from "../core/auth/ActorCheck.ts";
import type { Settings, StepContext } from "../core/protocol/Event.ts";
import { beingVerified, notInitialized } from "../core/protocol/Unavailable.ts";
import { authorize } from "../core/auth/Authorization.ts";
import { READ_PERMISSION } from "../core/commands/approvers/Permissions.ts";
import { type Rejection, rejection } from "../core/base/Rejection.ts";
import type { Rows, RowView } from "../core/Tables.ts";
import { IntegrityFailure } from "./PeerStore.ts";
import type { Standing } from "./Standing.ts";

/** What one record is read through. */
interface RecordPorts {
  readonly view: RowView;
  readonly crypto: Pick<Crypto, "sha256OfText">;
  /** Called where a stored row did not hold, so that the peer stops signing. */
  readonly integrityLost: (where: string) => void;
}

export interface ReadPorts extends RecordPorts {
  readonly state: Standing;
  readonly settings: Settings;
  readonly clock: Pick<StepContext, "now" | "asBefore">;
}

/** Why this peer serves no reads of the registry, if so. */
export const readRefusal = ({
  cluster: { peer, membership, promotion },
  fitness: { unsealed, verifying, quarantine },
  rejoining: { recovery },
}: Standing): Rejection | undefined => {
  if (peer === undefined) return notInitialized;
  // Until all rows are compared with the signed sum, a missing or outdated row goes unnoticed.
  if (verifying) return beingVerified;
  if (!unsealed) return rejection("SEALED", "This peer is sealed.", "Unseal it, or ask another peer.");
  // Every row verifies; what it may lack, or hold an older form of, no row can tell.
  if (quarantine !== undefined)
    return rejection(
      "OUTDATED",
      "This peer ran from an old disk, so what it has may be outdated or incomplete.",
      "Ask another peer; an operator declares the restore of this one.",
    );
  if (membership === undefined && promotion.awaits !== undefined)
    return rejection(
      "RECOVERING",
      `This peer has no registry yet: it waits for the promotion of peer ${promotion.awaits}.`,
      `Ask peer ${promotion.awaits}.`,
    );
  if (recovery?.isReadable === false)
    return rejection(
      "RECOVERING",
      "This peer was restored and has not taken over the registry of another one yet.",
      "Ask another peer, or repeat the request later.",
    );
  return undefined;
};

/** A version, and what was observed of its authenticator when it is a passkey. */
export interface ReadRecord {
  readonly approver: Rows["approvers"];
  readonly observations: Rows["observations"] | undefined;
}

export const damaged = rejection(
  "INTEGRITY_FAILURE",
  "The stored record does not hold: it is not what this peer wrote.",
  "Ask another peer; an operator repairs this one from its backup.",
);

const unknown = rejection(
  "APPROVER_NOT_FOUND",
  "No approver of this ref is registered.",
  "Check the ref; every version has a ref of its own.",
);

/** Whether the actor may read, and this peer answer; 401 and 403 come first. */
export const mayRead = (
  { state, settings, clock }: Pick<ReadPorts, "state" | "settings" | "clock">,
  actor: ActorCheck,
): Either.Either<void, Rejection> => {
  const { now, asBefore } = clock;
  const claims = authorize({ now, asBefore, settings }, actor, [READ_PERMISSION]);
  if (Either.isLeft(claims)) return Either.left(claims.left);
  const refusal = readRefusal(state);
  return refusal === undefined ? Either.void : Either.left(refusal);
};

/** What the descriptor makes the ref end with: computed once for a row that is read again and again. */
const digestOf = memoized((row: Rows["approvers"], { sha256OfText }: RecordPorts["crypto"]) =>
  refDigest(sha256OfText, row.descriptor),
);

/** What rows lead to; one that does not hold is reported. */
export const guarded = <A>(
  { integrityLost }: Pick<RecordPorts, "integrityLost">,
  read: () => Either.Either<A, Rejection>,
): Either.Either<A, Rejection> => {
  try {
    return read();
  } catch (fault) {
    if (!(fault instanceof IntegrityFailure)) throw fault;
    integrityLost(fault.where);
    return Either.left(damaged);
  }
};

/** The record under a well-formed ref, verified; undefined where there is none. */
export const recordAt = (ports: RecordPorts, ref: string): Either.Either<ReadRecord | undefined, Rejection> =>
  guarded(ports, () => {
    const { view, crypto, integrityLost } = ports;
    const approver = view.get("approvers", ref);
    const observations = view.get("observations", ref);
    if (approver === undefined) return Either.right(undefined);
    if (approver.ref === ref && ref.endsWith(digestOf(approver, crypto)))
      return Either.right({ approver, observations });
    integrityLost(`approvers/${ref}`);
    return Either.left(damaged);
  });

/**
 * A version that was changed just now, with what was observed of its authenticator.
 *
 * Left is `INTEGRITY_FAILURE` when that row does not hold: the change stands, and another peer shows it.
 */
export const withObservations = (
  { view, integrityLost }: Pick<ReadPorts, "view" | "integrityLost">,
  approver: Rows["approvers"],
): Either.Either<ReadRecord, Rejection> =>
  Either.try({
    try: () => ({ approver, observations: view.get("observations", approver.ref) }),
    catch: (fault) => {
      if (!(fault instanceof IntegrityFailure)) throw fault;
      integrityLost(fault.where);
      return { ...damaged, ref: approver.ref, outcomeUnknown: true };
    },
  });

/**
 * One approver version by its complete ref, already URL-decoded.
 *
 * Left, in this order: 401 and 403 for the actor, whatever {@link readRefusal} says, `INVALID_REF`, `APPROVER_NOT_FOUND`, and `INTEGRITY_FAILURE` when a row's seal
 * does not hold or its descriptor is not the one the ref names (contract 2.2).
 * A store that cannot be read throws.
 */
export const readApprover = (
  ports: ReadPorts,
  actor: ActorCheck,
  ref: string,
): Either.Either<ReadRecord, Rejection> => {
  const allowed = mayRead(ports, actor);
  if (Either.isLeft(allowed)) return Either.left(allowed.left);
  const parts = parseApproverRef(ref);
  if (Either.isLeft(parts)) return Either.left(parts.left);
  const record = recordAt(ports, ref);
  if (Either.isLeft(record)) return Either.left(record.left);
  if (record.right !== undefined) return Either.right(record.right);
  // Where rows are known to be lost, one that is not there may be one of them.
  return Either.left(ports.state.fitness.integrityFault === undefined ? unknown : damaged);
};
