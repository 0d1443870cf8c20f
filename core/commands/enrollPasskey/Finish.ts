/**
 * What a finish request means: the approver that a verified response leads to,
 * in the session that its invitation names. Each peer finds it out from its own
 * session row, and whoever has no such row knows nothing (contract 4.1).
 */
import { absurd, Either } from "effect";
import { pair, text } from "../../codec/Codec.ts";
import { approverRef } from "../../credential/ApproverRef.ts";
import type { Metadata } from "../../credential/Metadata.ts";
import { refDigest } from "../../credential/SignatureCredential.ts";
import type { Crypto } from "../../crypto/Crypto.ts";
import type { Digest } from "../../base/Digest.ts";
import type { StepContext } from "../../protocol/Event.ts";
import { Limits } from "../../base/Limits.ts";
import type { Intent, Target } from "../../protocol/Command.ts";
import type { Call } from "../../protocol/Forward.ts";
import type { Place } from "../../protocol/Place.ts";
import { keyIdentityOf, REGISTER_PATH } from "../registerKey/Registration.ts";
import type { Rejection } from "../../base/Rejection.ts";
import type { SessionRow } from "./SessionTables.ts";
import { ceremonyRejection } from "../../webauthn/CeremonyRefusal.ts";
import { type FinishRequest, parseFinishRequest, responseDigest } from "../../webauthn/FinishRequest.ts";
import { WEBAUTHN_KEY_ALGORITHM, webauthnDescriptorJson } from "../../webauthn/WebauthnDescriptor.ts";
import type { Observations } from "../approvers/Approver.ts";
import { credentialLock, registrationLocks, sessionLock } from "../approvers/Locks.ts";
import type { Completion, FINISH, Response } from "./Completion.ts";
import { disabled } from "./Enrollment.ts";
import { registrationIdOf } from "./Session.ts";
import { sessionStanding } from "./SessionStanding.ts";

export const FINISH_PATH = `${REGISTER_PATH}/webauthn/registration/finish`;

const CREDENTIAL_TAG = "CUSTODY_CREDENTIAL_V1";
/** RP id and credential id, the latter as unpadded Base64url. */
const credentialCodec = pair(text(256), text(2 * Limits.credentialIdBytes));

/** What a finish is about before its response is verified: it does not say which approver it is for. */
export interface FinishTarget extends Target {
  readonly kind: typeof FINISH;
  readonly response: Response;
}

export interface Finish extends Intent {
  readonly kind: typeof FINISH;
  readonly id: string;
  readonly descriptor: string;
  readonly keyIdentity: Digest;
  readonly credentialIdentity: Digest;
  readonly metadata: Metadata;
  readonly response: Response;
  readonly observations: Observations;
}

export const isFinish = ({ method, path }: Call): boolean => method === "POST" && path === FINISH_PATH;

/** (rpId, credentialId) as one name. */
export const credentialIdentityOf = (crypto: Crypto, rpId: string, credentialId: string): Digest =>
  crypto.digest(CREDENTIAL_TAG, credentialCodec, [rpId, credentialId]);

/** The locks of every registration of an approver, and those of its credential and its session. */
export const finishLocks = ({
  ref,
  keyIdentity,
  credentialIdentity,
  registrationId,
}: Pick<Finish, "ref" | "keyIdentity" | "credentialIdentity"> &
  Pick<Response, "registrationId">): ReadonlyArray<string> => [
  ...registrationLocks({ ref, keyIdentity }),
  credentialLock(credentialIdentity),
  sessionLock(registrationId),
];

interface Read {
  readonly crypto: Crypto;
  readonly request: Either.Either<{ readonly response: Response; readonly submitted: FinishRequest }, Rejection>;
}

/** Requests read before: each is judged where it enters and again by each vote on it. */
const reads = new WeakMap<Call, Read>();

const readOf = (crypto: Crypto, call: Call): Read["request"] => {
  const known = reads.get(call);
  if (known !== undefined && known.crypto === crypto) return known.request;
  const request = Either.map(parseFinishRequest(call.rawBody), (submitted) => ({
    submitted,
    response: {
      registrationId: registrationIdOf(crypto, submitted.invitation),
      responseDigest: responseDigest(crypto, submitted),
    },
  }));
  reads.set(call, { crypto, request });
  return request;
};

interface Verified {
  readonly ceremony: StepContext["ceremony"];
  /** Two members may have been told of different sessions under one name. */
  readonly session: Digest;
  readonly meaning: Either.Either<Finish, Rejection>;
}

/** Responses verified before, and the session they were verified against. */
const verified = new WeakMap<Call, Verified>();

const verify = (
  { crypto, ceremony, settings }: Place["context"],
  call: Call,
  { session, ack }: SessionRow,
  { submitted, response }: { readonly submitted: FinishRequest; readonly response: Response },
): Either.Either<Finish, Rejection> => {
  const known = verified.get(call);
  const digest = ack.statement.proposalId;
  if (known !== undefined && known.session === digest && known.ceremony === ceremony) return known.meaning;
  const { relyingParty } = settings;
  if (relyingParty === undefined) return Either.left(disabled);
  const { challenge, userHandle, createdAt, expiresAt, id, metadata, rpId } = session;
  const result = ceremony({
    relyingParty,
    challenge,
    userHandle,
    credential: submitted.credential,
    // The same moment for every member: certificates must be valid when the session was opened.
    at: createdAt,
  });
  const meaning = Either.mapBoth(result, {
    onLeft: (refusal) => ceremonyRejection([refusal]),
    onRight: ({ descriptor, keyBytes, observations }): Finish => {
      const descriptorJson = webauthnDescriptorJson(descriptor);
      const ref = approverRef(id, refDigest(crypto.sha256OfText, descriptorJson));
      const keyIdentity = keyIdentityOf(crypto, WEBAUTHN_KEY_ALGORITHM, keyBytes);
      const credentialIdentity = credentialIdentityOf(crypto, rpId, descriptor.credentialId);
      return {
        kind: "FINISH",
        locks: finishLocks({ ref, keyIdentity, credentialIdentity, registrationId: response.registrationId }),
        id,
        ref,
        descriptor: descriptorJson,
        keyIdentity,
        credentialIdentity,
        metadata,
        response,
        observations,
        deadline: expiresAt,
      };
    },
  });
  verified.set(call, { ceremony, session: digest, meaning });
  return meaning;
};

/** The finish that was done: its response was verified when it was reserved, and is not verified again. */
const doneBy = (completion: Completion, response: Response, deadline: number): Finish => {
  const { approver, credentialIdentity, observations } = completion;
  const { id, ref, descriptor, keyIdentity, metadata } = approver;
  return {
    kind: "FINISH",
    locks: finishLocks({ ref, keyIdentity, credentialIdentity, registrationId: response.registrationId }),
    id,
    ref,
    descriptor,
    keyIdentity,
    credentialIdentity,
    metadata,
    response,
    observations,
    deadline,
  };
};

/**
 * Reads a finish, and verifies it where it is not done yet.
 *
 * @returns in this order `WEBAUTHN_DISABLED`; `INVALID_REQUEST_BODY`, or `INVALID_CEREMONY` for what is no invitation;
 *   `REGISTRATION_NOT_FOUND`, `REGISTRATION_COMPLETED`, `REGISTRATION_EXPIRED` by what is stored here; and
 *   `INVALID_CEREMONY` with the check that failed
 */
export const finishOf = (place: Place, call: Call): Either.Either<Finish, Rejection> => {
  const { crypto, settings } = place.context;
  if (settings.relyingParty === undefined) return Either.left(disabled);
  const read = readOf(crypto, call);
  if (Either.isLeft(read)) return Either.left(read.left);
  const { response } = read.right;
  const standing = sessionStanding(place, response);
  switch (standing._tag) {
    case "Refused":
      return Either.left(standing.rejection);
    case "Completed":
      return Either.right(doneBy(standing.completion, response, standing.deadline));
    case "Open":
      return verify(place.context, call, standing.row, read.right);
    default:
      return absurd(standing);
  }
};

/** The response that a finish brings, whatever has become of its session; undefined where the call cannot be read. */
export const responseIn = (crypto: Crypto, call: Call): Response | undefined =>
  Either.getOrUndefined(readOf(crypto, call))?.response;
