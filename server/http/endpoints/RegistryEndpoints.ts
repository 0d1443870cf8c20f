/** The registry and the enrollment of passkeys (contract 4.1). */
import { Limits } from "../../../core/base/Limits.ts";
import {
  METADATA_PERMISSION,
  READ_PERMISSION,
  REGISTER_PERMISSION,
} from "../../../core/commands/approvers/Permissions.ts";
import { credentialTypes } from "../../../core/commands/approvers/Terms.ts";
import { enrollmentShape, OPTIONS_PATH } from "../../../core/commands/enrollPasskey/Enrollment.ts";
import { FINISH_PATH } from "../../../core/commands/enrollPasskey/Finish.ts";
import { integer } from "../../../core/codec/Shape.ts";
import { approverIdShape } from "../../../core/credential/ApproverId.ts";
import { REGISTER_PATH } from "../../../core/commands/registerKey/Registration.ts";
import { replacementShape } from "../../../core/credential/MetadataRequest.ts";
import { registrationShape } from "../../../core/credential/RegisterRequest.ts";
import { finishShape } from "../../../core/webauthn/FinishRequest.ts";
import { listBounds } from "../../../runtime/ListQuery.ts";
import { endpoint, type Parameter } from "./Endpoint.ts";
import {
  exampleCredential,
  exampleInvitation,
  examplePasskey,
  exampleRecord,
  exampleRef,
  exampleResponse,
} from "./Examples.ts";
import { invitationShape, recordPageShape, recordShape, refShape } from "./RegistryAnswers.ts";

const tag = "Registry";
const maxBytes = Limits.requestBodyBytes;

const ref: Parameter = {
  in: "path",
  name: "ref",
  description: "The complete ref, percent-encoded once; `@` and `:` may stand raw.",
  isRequired: true,
  schema: refShape.schema,
  example: exampleRef,
};

const inQuery = { in: "query", isRequired: false } as const;

const record = { shape: recordShape, headers: ["ETag"], example: exampleRecord } as const;
const enrolled = { shape: recordShape, headers: ["ETag"], example: examplePasskey } as const;
const condition = { in: "header", schema: { type: "string" } } as const;

export const registryEndpoints = {
  registerApprover: endpoint({
    method: "POST",
    path: REGISTER_PATH,
    tag,
    summary: "Register a public key",
    description:
      "A key has one owner, and a second key under the same id is another version. An identical registration finds the stored version; its metadata is kept.",
    kind: "change",
    token: "required",
    permissions: [REGISTER_PERMISSION],
    body: {
      shape: registrationShape,
      maxBytes,
      example: { id: "alice", credential: exampleCredential, metadata: { team: "payments" } },
    },
    answers: {
      201: { description: "A new version.", ...record },
      200: { description: "It was there already.", ...record },
    },
    problems: ["INVALID_METADATA", "INVALID_PUBLIC_KEY", "UNSUPPORTED_ALGORITHM", "KEY_ALREADY_REGISTERED"],
  }),
  listApprovers: endpoint({
    method: "GET",
    path: REGISTER_PATH,
    tag,
    summary: "List versions, in pages",
    description:
      "Every version that all filters fit, by full ref. Pages are no snapshot. A page may be shorter than `limit`; the last one alone has no `nextCursor`.",
    kind: "read",
    token: "required",
    permissions: [READ_PERMISSION],
    parameters: [
      { ...inQuery, name: "id", description: "The exact id.", schema: approverIdShape.schema, example: "alice" },
      {
        ...inQuery,
        name: "type",
        description: "The type of credential.",
        schema: { type: "string", enum: credentialTypes },
        example: "SIGNATURE",
      },
      {
        ...inQuery,
        name: "metadata",
        description: `Sent as \`metadata.<key>=<value>\` for each pair that is wanted, at most ${Limits.metadataPairs}; a plus sign is a space.`,
        schema: {
          type: "object",
          patternProperties: { "^metadata\\..": { type: "string" } },
          additionalProperties: false,
        },
      },
      {
        ...inQuery,
        name: "limit",
        description: "The most items of a page.",
        schema: { ...integer(1, listBounds.limit).schema, default: listBounds.usualLimit },
        example: "50",
      },
      {
        ...inQuery,
        name: "cursor",
        description: "The `nextCursor` of a page with the same filters, from any peer.",
        schema: { type: "string", pattern: "^[\\w-]+$" },
      },
    ],
    answers: {
      200: { description: "A page.", shape: recordPageShape, example: { items: [exampleRecord], nextCursor: null } },
    },
    problems: ["INVALID_QUERY", "INDEXING", "REQUEST_CAPACITY"],
  }),
  readApprover: endpoint({
    method: "GET",
    path: `${REGISTER_PATH}/{ref}`,
    tag,
    summary: "Read one version by its complete ref",
    description: "The same bytes from every peer. Never waits for a change.",
    kind: "read",
    token: "required",
    permissions: [READ_PERMISSION],
    parameters: [
      ref,
      {
        ...condition,
        name: "If-None-Match",
        description: "An ETag that is known, or a list of them: 304 where it is still current.",
      },
      { ...condition, name: "If-Match", description: "412 where the current ETag is none of these." },
    ],
    answers: {
      200: { description: "The version.", ...record, headers: ["ETag", "Cache-Control"] },
      304: { description: "Known already (RFC 9110 15.4.5).", headers: ["ETag", "Cache-Control"] },
    },
    problems: ["INVALID_REF", "APPROVER_NOT_FOUND", "PRECONDITION_FAILED"],
  }),
  replaceMetadata: endpoint({
    method: "PUT",
    path: `${REGISTER_PATH}/{ref}/metadata`,
    tag,
    summary: "Replace all metadata of a version",
    description: "An empty map clears it. Raises the revision; descriptor and ref stay.",
    kind: "change",
    token: "required",
    permissions: [METADATA_PERMISSION],
    parameters: [
      ref,
      {
        ...condition,
        name: "If-Match",
        description:
          "The ETag of the revision that is replaced, strong and alone. 428 where it is missing, 412 where it is anything else, before the approver is looked for: 404 means that the request was well-formed.",
        isRequired: true,
        example: '"1"',
      },
      { ...condition, name: "If-None-Match", description: "412 where it excludes the revision of If-Match." },
    ],
    body: { shape: replacementShape, maxBytes, example: { metadata: { team: "treasury" } } },
    answers: {
      200: {
        description: "The version as it is now.",
        ...record,
        example: {
          ...exampleRecord,
          metadata: { team: "treasury" },
          metadataRevision: 2,
          updatedAt: 1_800_000_060_000,
        },
      },
    },
    problems: [
      "INVALID_REF",
      "INVALID_METADATA",
      "APPROVER_NOT_FOUND",
      "PRECONDITION_REQUIRED",
      "PRECONDITION_FAILED",
      "INTEGRITY_FAILURE",
    ],
  }),
  startEnrollment: endpoint({
    method: "POST",
    path: OPTIONS_PATH,
    tag,
    summary: "Invite the holder of a passkey",
    description:
      "Opens a session for one id. A link is `<origin>/enroll#` with the answer's `{invitation, expiresAt, publicKey}` as JSON in unpadded Base64url.",
    kind: "change",
    token: "required",
    permissions: [REGISTER_PERMISSION],
    body: { shape: enrollmentShape, maxBytes, example: { id: "alice", metadata: { team: "payments" } } },
    answers: {
      200: {
        description: "The invitation.",
        shape: invitationShape,
        headers: ["X-EXPIRES-AT"],
        example: exampleInvitation,
      },
    },
    problems: ["WEBAUTHN_DISABLED", "INVALID_METADATA", "SESSION_CAPACITY"],
  }),
  finishEnrollment: endpoint({
    method: "POST",
    path: FINISH_PATH,
    tag,
    summary: "Register the passkey of an invitation",
    description:
      "Through any peer, with any valid token of the holder's own. What is verified: docs/webauthn.md. A refused response leaves the invitation good; after 16 refused for an invitation, or 32 for an actor (`iss`, `sub`), a peer answers 429 until one comes back every 10 s, or every second.",
    kind: "change",
    token: "required",
    body: { shape: finishShape, maxBytes, example: exampleResponse },
    answers: {
      201: { description: "A new version.", ...enrolled },
      200: { description: "The same response again.", ...enrolled },
    },
    problems: [
      "WEBAUTHN_DISABLED",
      "INVALID_CEREMONY",
      "REGISTRATION_NOT_FOUND",
      "REGISTRATION_EXPIRED",
      "REGISTRATION_COMPLETED",
      "KEY_ALREADY_REGISTERED",
      "CREDENTIAL_ALREADY_REGISTERED",
      "TOO_MANY_ATTEMPTS",
    ],
  }),
};
