/** The content of an options request: a session for one approver id (contract 4.1). */
import { Either } from "effect";
import { memoized } from "../../base/Memo.ts";
import { isApproverId } from "../../credential/ApproverId.ts";
import { type Metadata, validateMetadata } from "../../credential/Metadata.ts";
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

const understood = memoized(({ rawBody }: Call, { relyingParty }: Settings): Either.Either<Enrollment, Rejection> => {
  if (relyingParty === undefined) return Either.left(disabled);
  const body = readBody(rawBody, "a request for enrollment options", ["id", "metadata"], (root) => ({
    id: root.string("id", isApproverId, "An id is 1 to 128 of A-Z a-z 0-9 . _ - and starts with a letter or a digit."),
    pairs: root.optionalStrings("metadata"),
  }));
  if (Either.isLeft(body)) return Either.left(body.left);
  const { id, pairs } = body.right;
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
