/** The content of an options request: a session for one approver id (contract 4.1). */
import { Either } from "effect";
import { memoized } from "../../base/Memo.ts";
import { named, object, optional } from "../../codec/Shape.ts";
import { approverIdShape } from "../../credential/ApproverId.ts";
import { type Metadata, metadataShape, validateMetadata } from "../../credential/Metadata.ts";
import { readBody } from "../../credential/RequestBody.ts";
import type { Settings } from "../../protocol/Event.ts";
import type { Call } from "../../protocol/Forward.ts";
import { REGISTER_PATH } from "../registerKey/Registration.ts";
import { type Rejection, rejection } from "../../base/Rejection.ts";
import type { RelyingParty } from "../../webauthn/RelyingParty.ts";

export const OPTIONS_PATH = `${REGISTER_PATH}/webauthn/registration/options`;

export interface Enrollment {
  readonly kind: "OPTIONS";
  /** It names no approver version yet. */
  readonly ref: undefined;
  readonly id: string;
  readonly metadata: Metadata;
  readonly relyingParty: RelyingParty;
}

export const isOptions = ({ method, path }: Call): boolean => method === "POST" && path === OPTIONS_PATH;

export const disabled: Rejection = rejection(
  "WEBAUTHN_DISABLED",
  "This cluster enrolls no passkeys.",
  "An operator enables it in the configuration of every peer.",
);

/** For whom a passkey is to be made. */
export const enrollmentShape = named(
  "EnrollmentRequest",
  object({ id: approverIdShape, metadata: optional(metadataShape) }),
);

const understood = memoized(({ rawBody }: Call, { relyingParty }: Settings): Either.Either<Enrollment, Rejection> => {
  if (relyingParty === undefined) return Either.left(disabled);
  const body = readBody(rawBody, "a request for enrollment options", enrollmentShape);
  if (Either.isLeft(body)) return Either.left(body.left);
  const { id, metadata: pairs = new Map() } = body.right;
  const metadata = validateMetadata(pairs);
  if (Either.isLeft(metadata)) return Either.left(metadata.left);
  return Either.right({
    kind: "OPTIONS",
    ref: undefined,
    id,
    metadata: metadata.right,
    relyingParty,
  });
});

/**
 * Reads and validates an options request.
 *
 * @returns `WEBAUTHN_DISABLED` where there is no relying party; `INVALID_REQUEST_BODY`, `INVALID_METADATA`
 */
export const enrollmentOf = (settings: Settings, call: Call): Either.Either<Enrollment, Rejection> =>
  understood(call, settings);
