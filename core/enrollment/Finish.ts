/**
 * What a finish request means: the approver that a verified response leads to,
 * in the session that its invitation names. Each peer finds it out from its own
 * session row, and whoever has no such row knows nothing (contract 4.1).
 */
import { absurd, Either } from "effect";
import { pair, text } from "../codec/Codec.ts";
import { approverRef } from "../credential/ApproverRef.ts";
import type { Metadata } from "../credential/Metadata.ts";
import { refDigest } from "../credential/SignatureCredential.ts";
import type { Crypto } from "../Crypto.ts";
import type { Digest } from "../Digest.ts";
import type { StepContext } from "../Event.ts";
import { Limits } from "../Limits.ts";
import type { Call } from "../protocol/Forward.ts";
import type { Effects } from "../protocol/Proposal.ts";
import type { Place } from "../registry/Place.ts";
import { keyConflict, keyIdentityOf, REGISTER_PATH } from "../registry/Registration.ts";
import type { Standing } from "../registry/Standing.ts";
import { type Rejection, rejection } from "../Rejection.ts";
import type { Rows } from "../Tables.ts";
import { ceremonyRejection } from "../webauthn/CeremonyRefusal.ts";
import { type FinishRequest, parseFinishRequest, responseDigest } from "../webauthn/FinishRequest.ts";
import { WEBAUTHN_KEY_ALGORITHM, webauthnDescriptorJson } from "../webauthn/WebauthnDescriptor.ts";
import type { Completion, Response } from "./Completion.ts";
import { disabled } from "./Enrollment.ts";
import { registrationIdOf } from "./Session.ts";
import { sessionStanding } from "./SessionStanding.ts";

export const FINISH_PATH = `${REGISTER_PATH}/webauthn/registration/finish`;

const CREDENTIAL_TAG = "CUSTODY_CREDENTIAL_V1";
/** RP id and credential id, the latter as unpadded Base64url. */
const credentialCodec = pair(text(256), text(2 * Limits.credentialIdBytes));

export interface Finish {
  readonly kind: "FINISH";
  /** It builds on nothing. */
  readonly baseRevision: undefined;
  readonly id: string;
  readonly ref: string;
  readonly descriptor: string;
  readonly keyIdentity: Digest;
  readonly credentialIdentity: Digest;
  readonly metadata: Metadata;
  readonly response: Response;
  readonly observations: NonNullable<Effects["observations"]>;
  /** Unix milliseconds: nobody signs for it later than that. */
  readonly deadline: number;
}

export const isFinish = ({ method, path }: Call): boolean => method === "POST" && path === FINISH_PATH;

/** (rpId, credentialId) as one name. */
export const credentialIdentityOf = (crypto: Crypto, rpId: string, credentialId: string): Digest =>
  crypto.digest(CREDENTIAL_TAG, credentialCodec, [rpId, credentialId]);

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
  { session, ack }: Rows["sessions"],
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
      return {
        kind: "FINISH",
        baseRevision: undefined,
        id,
        ref: approverRef(id, refDigest(crypto.sha256OfText, descriptorJson)),
        descriptor: descriptorJson,
        keyIdentity: keyIdentityOf(crypto, WEBAUTHN_KEY_ALGORITHM, keyBytes),
        credentialIdentity: credentialIdentityOf(crypto, rpId, descriptor.credentialId),
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
  const { id, ref, descriptor, keyIdentity, credentialIdentity, metadata, observations } = completion;
  return {
    kind: "FINISH",
    baseRevision: undefined,
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

const made = new WeakMap<Finish, Effects>();

/** What it does to the registry, at the time the writer proposes it. */
const effectsOf = (finish: Finish, proposedAt: number): Effects => {
  const known = made.get(finish);
  if (known !== undefined && known.createdAt === proposedAt) return known;
  const effects: Effects = {
    id: finish.id,
    ref: finish.ref,
    descriptor: finish.descriptor,
    keyIdentity: finish.keyIdentity,
    metadata: finish.metadata,
    baseRevision: undefined,
    newRevision: 1,
    createdAt: proposedAt,
    updatedAt: proposedAt,
    registrationId: finish.response.registrationId,
    responseDigest: finish.response.responseDigest,
    observations: finish.observations,
    credentialIdentity: finish.credentialIdentity,
  };
  made.set(finish, effects);
  return effects;
};

const credentialConflict = rejection(
  "CREDENTIAL_ALREADY_REGISTERED",
  "This credential is registered already.",
  "Use the existing approver, or create another credential.",
);

/** How it stands: done by this very response, or impossible for the session, the credential or the key; else possible. */
export const finishStanding = (place: Place, finish: Finish): Standing => {
  const { view } = place.context;
  const session = sessionStanding(place, finish.response);
  if (session._tag === "Refused") return { _tag: "Impossible", rejection: session.rejection, isFinal: true };
  const approver = session._tag === "Completed" ? view.get("approvers", session.completion.ref) : undefined;
  if (approver !== undefined) return { _tag: "Done", approver };
  if (view.get("credentials", finish.credentialIdentity) !== undefined)
    return { _tag: "Impossible", rejection: credentialConflict, isFinal: true };
  const owner = view.get("keys", finish.keyIdentity);
  if (owner !== undefined && owner.id !== finish.id)
    return { _tag: "Impossible", rejection: keyConflict(finish.ref), isFinal: true };
  return { _tag: "Possible", effectsAt: (proposedAt) => effectsOf(finish, proposedAt) };
};
