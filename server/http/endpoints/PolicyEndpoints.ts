/** Policies against the registry (contract 2.6, 7). */
import { Limits } from "../../../core/base/Limits.ts";
import {
  described,
  either,
  list,
  named,
  object,
  only,
  optional,
  text,
  truth,
  word,
} from "../../../core/codec/Shape.ts";
import { READ_PERMISSION } from "../../../core/commands/approvers/Permissions.ts";
import { approverIdShape } from "../../../core/credential/ApproverId.ts";
import { policyShape } from "../../../core/policy/PolicyRequest.ts";
import { endpoint } from "./Endpoint.ts";
import { exampleCredential, exampleRef } from "./Examples.ts";
import { refShape } from "./RegistryAnswers.ts";

const NO_RULE = "";

const digest = text({ pattern: /^[0-9a-f]{64}$/ });
const place = {
  pointer: described("Where the entry stands (RFC 6901).", text()),
  ref: optional(described("As the policy has it; an inline key has none.", refShape)),
};
const keyIdentity = described("Equal for the same key in whatever format.", digest);

const unresolvedEntryShape = named(
  "UnresolvedEntry",
  object({
    ...place,
    resolved: only(false),
    code: word(["approver_not_found", "integrity_failure", "unsupported_credential", "duplicate_key"], NO_RULE),
    detail: text(),
    duplicateOf: optional(described("The pointer of the entry with the same key.", text())),
  }),
);

const signatureEntryShape = named(
  "SignatureEntry",
  object({
    ...place,
    resolved: only(true),
    id: optional(approverIdShape),
    type: word(["SIGNATURE"], NO_RULE),
    algorithm: text(),
    keyIdentity,
    accepts: word(["SIGNATURE"], NO_RULE),
  }),
);

const passkeyEntryShape = named(
  "PasskeyEntry",
  object({
    ...place,
    resolved: only(true),
    id: optional(approverIdShape),
    type: word(["WEBAUTHN"], NO_RULE),
    algorithm: word(["ES256"], NO_RULE),
    credentialId: text(),
    rpId: text(),
    keyIdentity,
    accepts: described("Nothing but assertions of this passkey.", word(["WEBAUTHN_ASSERTION"], NO_RULE)),
  }),
);

const resolutionShape = named(
  "Resolution",
  object({
    resolved: described("Whether every entry is.", truth),
    policyDigest: optional(described("There when it is resolved.", text({ pattern: /^sha256:[0-9a-f]{64}$/ }))),
    entries: list(either(unresolvedEntryShape, either(signatureEntryShape, passkeyEntryShape))),
  }),
);

export const policyEndpoints = {
  resolvePolicy: endpoint({
    method: "POST",
    path: "/v1/custody/policies/resolve",
    tag: "Policies",
    summary: "See what each entry of a policy comes to",
    description:
      "At this peer, now; nothing is stored. A policy that does not resolve is answered 200 too, without a digest. Approvers that no group names are resolved as well; no key may be there twice.",
    kind: "read",
    token: "required",
    permissions: [READ_PERMISSION],
    body: {
      shape: policyShape,
      maxBytes: Limits.policyBytes,
      example: { fourEye: { mode: "STRICT", m: 1, n: 2, keys: [{ ref: exampleRef }, exampleCredential] } },
    },
    answers: {
      200: {
        description: "Every entry, in the order of the policy.",
        shape: resolutionShape,
        example: {
          resolved: false,
          entries: [
            {
              pointer: "/fourEye/keys/0",
              ref: exampleRef,
              resolved: false,
              code: "approver_not_found",
              detail: "No approver of this ref is registered here.",
            },
            {
              pointer: "/fourEye/keys/1",
              resolved: true,
              type: "SIGNATURE",
              algorithm: "ED25519",
              keyIdentity: "0123456789abcdef".repeat(4),
              accepts: "SIGNATURE",
            },
          ],
        },
      },
    },
    problems: ["REQUEST_CAPACITY"],
  }),
};
