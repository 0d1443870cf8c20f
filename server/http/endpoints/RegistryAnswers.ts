/** What the registry answers with, as {@link recordJson} writes it (contract 2.1, 2.3, 2.5). */
import { CAPACITIES } from "../../../core/base/Capacities.ts";
import {
  described,
  either,
  integer,
  list,
  map,
  named,
  nullable,
  object,
  only,
  text,
  truth,
  word,
} from "../../../core/codec/Shape.ts";
import { approverIdShape } from "../../../core/credential/ApproverId.ts";

const NO_RULE = "";

/** Unpadded Base64url. */
const binary = text({ pattern: /^[\w-]*$/ });
const unixMillis = described("Unix milliseconds.", integer(0));

export const refShape = described(
  "The complete name of one immutable version.",
  text({ pattern: /^[A-Za-z0-9][A-Za-z0-9._-]*@sha256:[0-9a-f]{64}$/ }),
);

const signatureShape = named(
  "SignatureCredential",
  object({
    type: word(["SIGNATURE"], NO_RULE),
    algorithm: text(),
    publicKey64: described("The key in normal form, in padded Base64.", text()),
  }),
);

const passkeyShape = named(
  "PasskeyCredential",
  object({
    version: only(1),
    type: word(["WEBAUTHN"], NO_RULE),
    algorithm: word(["ES256"], NO_RULE),
    credentialId: binary,
    publicKeyCose: described("The canonical COSE_Key.", binary),
    rpId: text(),
    origins: described("Sorted.", list(text())),
    userVerification: word(["REQUIRED"], NO_RULE),
    userHandle: binary,
    backupEligible: truth,
  }),
);

const observationsShape = named(
  "Observations",
  object({
    signCount: integer(0),
    backupState: truth,
    transports: described("Sorted, as the client reported them.", list(text())),
    aaguid: binary,
  }),
);

const shown = {
  id: approverIdShape,
  ref: refShape,
};
const standing = {
  metadata: map(text()),
  metadataRevision: described("1 at first; the `ETag` is this in quotes.", integer(1)),
  createdAt: unixMillis,
  updatedAt: unixMillis,
};

/** An approver version: of a signature key, or of a passkey, with what was observed about it. */
export const recordShape = named(
  "Approver",
  either(
    named("SignatureApprover", object({ ...shown, credential: signatureShape, ...standing })),
    named(
      "PasskeyApprover",
      object({ ...shown, credential: passkeyShape, observations: observationsShape, ...standing }),
    ),
  ),
);

export const recordPageShape = named(
  "ApproverPage",
  object({
    items: described("Sorted by ref.", list(recordShape)),
    nextCursor: described("Of the next page with the same filters; null on the last.", nullable(binary)),
  }),
);

const credentialName = object({ type: word(["public-key"], NO_RULE), id: binary });

/** `PublicKeyCredentialCreationOptionsJSON` (WebAuthn Level 3 section 5.1.9). */
const creationOptionsShape = named(
  "CreationOptions",
  object({
    rp: object({ id: text(), name: text() }),
    user: object({ id: binary, name: approverIdShape, displayName: text() }),
    challenge: binary,
    pubKeyCredParams: list(object({ type: word(["public-key"], NO_RULE), alg: only(-7) })),
    timeout: described("Milliseconds.", integer(0)),
    excludeCredentials: described(
      `The id's known credentials, of its first ${CAPACITIES.excludedVersions} versions.`,
      list(credentialName),
    ),
    authenticatorSelection: object({
      residentKey: word(["preferred"], NO_RULE),
      requireResidentKey: only(false),
      userVerification: word(["required"], NO_RULE),
    }),
    attestation: word(["none", "indirect", "direct"], NO_RULE),
    extensions: object({ credProps: only(true) }),
  }),
);

export const invitationShape = named(
  "Invitation",
  object({
    registrationId: binary,
    invitation: described("A bearer secret, told this once.", binary),
    expiresAt: unixMillis,
    publicKey: described("For `PublicKeyCredential.parseCreationOptionsFromJSON()`.", creationOptionsShape),
  }),
);
