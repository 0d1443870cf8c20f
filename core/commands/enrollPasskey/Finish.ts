/**
 * The meaning of a finish request: the approver proved by a verified response,
 * in the session named by its invitation. Each peer derives it from its own
 * session row; a peer without that row derives nothing (contract 4.1).
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
import { memoized } from "../../base/Memo.ts";
import type { Intent, Target } from "../../protocol/Command.ts";
import type { Call } from "../../protocol/Forward.ts";
import type { EvaluationContext } from "../../protocol/EvaluationContext.ts";
import { keyIdentityOf } from "../../credential/KeyIdentity.ts";
import { REGISTER_PATH } from "../registerKey/Registration.ts";
import type { Rejection } from "../../base/Rejection.ts";
import { ceremonyRejection } from "../../webauthn/CeremonyRefusal.ts";
import { type FinishRequest, parseFinishRequest, responseDigest } from "../../webauthn/FinishRequest.ts";
import type { RelyingParty } from "../../webauthn/RelyingParty.ts";
import { WEBAUTHN_KEY_ALGORITHM, webauthnDescriptorJson } from "../../webauthn/WebauthnDescriptor.ts";
import type { Observations } from "../approvers/Approver.ts";
import { credentialLock, registrationLocks, sessionLock } from "../approvers/Locks.ts";
import type { Completion, FINISH, Response } from "./Completion.ts";
import { disabled } from "./Enrollment.ts";
import { registrationIdOf, type Session } from "./Session.ts";
import { sessionStanding } from "./SessionStanding.ts";

export const FINISH_PATH = `${REGISTER_PATH}/webauthn/registration/finish`;

const CREDENTIAL_TAG = "CUSTODY_CREDENTIAL_V1";
/** RP id and credential id, the latter as unpadded Base64url. */
const credentialCodec = pair(text(256), text(2 * Limits.credentialIdBytes));

/** The target of a finish before its response is verified: it does not say which approver it is for. */
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
  readonly response: Response;
  readonly submitted: FinishRequest;
}

const readOf = memoized(
  ({ rawBody }: Call, crypto: Crypto): Either.Either<Read, Rejection> =>
    Either.map(parseFinishRequest(rawBody), (submitted) => ({
      submitted,
      response: {
        registrationId: registrationIdOf(crypto, submitted.invitation),
        responseDigest: responseDigest(crypto, submitted),
      },
    })),
);

interface Against {
  readonly crypto: Crypto;
  readonly relyingParty: RelyingParty;
  readonly session: Session;
}

/** By the digest of the session: two members may have been told of different sessions under one name. */
const verified = memoized(
  (
    { submitted, response }: Read,
    _session: Digest,
    ceremony: StepContext["ceremony"],
    { crypto, relyingParty, session }: Against,
  ): Either.Either<Finish, Rejection> => {
    const { challenge, userHandle, createdAt, expiresAt, id, metadata, rpId } = session;
    const result = ceremony({
      relyingParty,
      challenge,
      userHandle,
      credential: submitted.credential,
      // The same time for every member: certificates must be valid when the session was opened.
      at: createdAt,
    });
    return Either.mapBoth(result, {
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
  },
);

/** An applied finish: its response was verified when it was reserved, and is not verified again. */
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
 * Reads a finish, and verifies it unless it is done already.
 *
 * @returns in this order `WEBAUTHN_DISABLED`; `INVALID_REQUEST_BODY`, or `INVALID_CEREMONY` for a malformed invitation;
 *   `REGISTRATION_NOT_FOUND`, `REGISTRATION_COMPLETED`, `REGISTRATION_EXPIRED` by the rows stored here; and
 *   `INVALID_CEREMONY` with the check that failed
 */
export const finishOf = (evaluation: EvaluationContext, call: Call): Either.Either<Finish, Rejection> => {
  const { ceremony, crypto, settings } = evaluation.context;
  const { relyingParty } = settings;
  if (relyingParty === undefined) return Either.left(disabled);
  const read = readOf(call, crypto);
  if (Either.isLeft(read)) return Either.left(read.left);
  const { response } = read.right;
  const standing = sessionStanding(evaluation, response);
  switch (standing._tag) {
    case "Refused":
      return Either.left(standing.rejection);
    case "Completed":
      return Either.right(doneBy(standing.completion, response, standing.deadline));
    case "Open": {
      const { session, ack } = standing.row;
      return verified(read.right, ack.statement.proposalId, ceremony, { crypto, relyingParty, session });
    }
    default:
      return absurd(standing);
  }
};

/** The response of a finish, whatever has become of its session; undefined where the call cannot be read. */
export const responseIn = (crypto: Crypto, call: Call): Response | undefined =>
  Either.getOrUndefined(readOf(call, crypto))?.response;
