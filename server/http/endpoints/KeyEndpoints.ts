/** Keys of the cluster (docs/api.md, Keys). */
import { Limits } from "../../../core/base/Limits.ts";
import { integer, text } from "../../../core/codec/Shape.ts";
import {
  keyCreationShape,
  keyDestructionShape,
  keyRenewalShape,
  repairShape,
  signingShape,
  verificationShape,
} from "../../../core/commands/keys/KeyBodies.ts";
import {
  CREATE_PERMISSION,
  INVENTORY_PERMISSION,
  type KeyAct,
  keyIdShape,
  keyPath,
  keyPermission,
  KEYS_PATH,
  REFRESH_PERMISSION,
  REPAIR_PERMISSION,
  ROTATE_PERMISSION,
} from "../../../core/commands/keys/KeyId.ts";
import { keyStatuses } from "../../../core/commands/keys/KeyRecord.ts";
import { REPAIR_BODY_BYTES } from "../../../core/commands/repairShare/RepairMessages.ts";
import { keyPageBounds } from "../../../runtime/KeyPages.ts";
import { endpoint, type Parameter } from "./Endpoint.ts";
import { keyPageShape, keyShape, publicKeyShape, repairedShape, signatureShape, verdictShape } from "./KeyAnswers.ts";
import {
  exampleDestroyed,
  exampleKey,
  exampleKeyId,
  examplePublicKey,
  exampleRenewed,
  exampleSignature64,
  exampleSigning,
  exampleVerification,
} from "./KeyExamples.ts";

const tag = "Keys";
const HOLE = "{keyId}";
const pathTo = (act: KeyAct): string => keyPath(HOLE, act);
const allowing = (act: KeyAct): string => keyPermission(HOLE, act);
const maxBytes = Limits.requestBodyBytes;

const keyId: Parameter = {
  in: "path",
  name: "keyId",
  description: "The id of the key.",
  isRequired: true,
  schema: keyIdShape.schema,
  example: exampleKeyId,
};

const generationNumber = integer(1, Limits.generations).schema;

const conditions: ReadonlyArray<Parameter> = [
  {
    in: "header",
    name: "If-None-Match",
    description: "An ETag that is known, or a list of them: 304 where it is still current.",
    schema: { type: "string" },
  },
  {
    in: "header",
    name: "If-Match",
    description: "412 where the current ETag is none of these.",
    schema: { type: "string" },
  },
];

const shown = { shape: keyShape, headers: ["ETag"] } as const;
const change = { tag, kind: "key change", token: "required", method: "POST" } as const;
const read = { tag, kind: "read", token: "required", method: "GET" } as const;
const known = { description: "Known already (RFC 9110 15.4.5).", headers: ["ETag", "Cache-Control"] } as const;
const exact = {
  200: { description: "The key.", ...shown, headers: ["ETag", "Cache-Control"], example: exampleKey },
  304: known,
} as const;

export const keyEndpoints = {
  createKey: endpoint({
    ...change,
    path: KEYS_PATH,
    summary: "Make a key with a share at every member",
    description:
      "All members make it together; no machine ever has it. Without `scheme` the algorithm's first: ED25519 EdDSA; SECP256K1 BIP340, TAPROOT, ECDSA; P256 ECDSA; MLDSA44, MLDSA65, MLDSA87 MLDSA. ECDSA and MLDSA only at a peer that is alone: no kept library signs with shares of such keys. An identical request finds the key.",
    permissions: [CREATE_PERMISSION],
    body: {
      shape: keyCreationShape,
      maxBytes,
      example: {
        keyId: exampleKeyId,
        algorithm: "ED25519",
        authorities: [{ id: "arbitrary" }],
        assetOwner: "customer-42",
      },
    },
    answers: {
      201: { description: "Every member has its share.", ...shown, example: exampleKey },
      200: { description: "It was made by such a request already.", ...shown, example: exampleKey },
    },
    problems: [
      "UNSUPPORTED_ALGORITHM",
      "SCHEME_NOT_THRESHOLD",
      "KEY_ALREADY_EXISTS",
      "KEY_ALREADY_REGISTERED",
      "KEY_DESTROYED",
      "KEYGEN_DISPUTED",
      "INTEGRITY_FAILURE",
    ],
  }),
  listKeys: endpoint({
    ...read,
    path: KEYS_PATH,
    summary: "List keys, in pages",
    description:
      "Sorted by id. Pages are no snapshot. A page looks at 1,000 keys at most, so it may be shorter than `limit`; the last one alone has no `nextCursor`.",
    permissions: [INVENTORY_PERMISSION],
    parameters: [
      {
        in: "query",
        name: "limit",
        description: "The most items of a page.",
        schema: { ...integer(1, keyPageBounds.limit).schema, default: keyPageBounds.usualLimit },
        example: "50",
      },
      {
        in: "query",
        name: "cursor",
        description: "The `nextCursor` of a page with the same filters, from any peer.",
        schema: { type: "string", pattern: "^[\\w-]+$" },
      },
      {
        in: "query",
        name: "assetOwner",
        description: "The exact owner.",
        schema: text({ longest: Limits.authorityIdCharacters }).schema,
        example: "customer-42",
      },
      {
        in: "query",
        name: "status",
        description: "The status.",
        schema: { type: "string", enum: keyStatuses },
        example: "ACTIVE",
      },
    ],
    answers: {
      200: { description: "A page.", shape: keyPageShape, example: { items: [exampleKey], nextCursor: null } },
    },
    problems: ["INVALID_QUERY", "REQUEST_CAPACITY"],
  }),
  readKey: endpoint({
    ...read,
    path: `${KEYS_PATH}/${HOLE}`,
    summary: "Read a key with its newest generation",
    description: "But for `health` the same bytes from every peer.",
    permissions: [allowing("public")],
    parameters: [keyId, ...conditions],
    answers: exact,
    problems: ["KEY_NOT_FOUND", "PRECONDITION_FAILED"],
  }),
  readGeneration: endpoint({
    ...read,
    path: `${KEYS_PATH}/${HOLE}/generations/{generation}`,
    summary: "Read a key with one of its generations",
    permissions: [allowing("public")],
    parameters: [
      keyId,
      {
        in: "path",
        name: "generation",
        description: "The number of the generation.",
        isRequired: true,
        schema: generationNumber,
        example: "1",
      },
      ...conditions,
    ],
    answers: exact,
    problems: ["KEY_NOT_FOUND", "GENERATION_NOT_FOUND", "PRECONDITION_FAILED"],
  }),
  readPublicKey: endpoint({
    ...read,
    path: pathTo("public"),
    summary: "Read a public key",
    permissions: [allowing("public")],
    parameters: [
      keyId,
      {
        in: "query",
        name: "generation",
        description: "Of this generation, in place of the newest.",
        schema: generationNumber,
        example: "1",
      },
    ],
    answers: { 200: { description: "The public key.", shape: publicKeyShape, example: examplePublicKey } },
    problems: ["INVALID_QUERY", "KEY_NOT_FOUND", "GENERATION_NOT_FOUND"],
  }),
  rotateKey: endpoint({
    ...change,
    path: pathTo("rotate"),
    summary: "Make the key's next generation, with another public key",
    description:
      "The generation before becomes `HISTORICAL`; its shares stay until it is destroyed. What is left out stays.",
    permissions: [ROTATE_PERMISSION, allowing("rotate")],
    parameters: [keyId],
    body: { shape: keyRenewalShape, maxBytes, example: { baseGeneration: 1 } },
    answers: {
      200: {
        description: "The key as it is now; so too for the same request again.",
        ...shown,
        example: exampleRenewed("ROTATE"),
      },
    },
    problems: [
      "KEY_NOT_FOUND",
      "GENERATION_MOVED",
      "KEY_DESTROYED",
      "KEY_ALREADY_REGISTERED",
      "KEYGEN_DISPUTED",
      "INTEGRITY_FAILURE",
    ],
  }),
  refreshKey: endpoint({
    ...change,
    path: pathTo("refresh"),
    summary: "Give all members new shares of the same key",
    description: "The public key stays. The generation before becomes `SUPERSEDED`, and its shares are erased.",
    permissions: [REFRESH_PERMISSION, allowing("refresh")],
    parameters: [keyId],
    body: { shape: keyRenewalShape, maxBytes, example: { baseGeneration: 1 } },
    answers: {
      200: {
        description: "The key as it is now; so too for the same request again.",
        ...shown,
        example: exampleRenewed("REFRESH"),
      },
    },
    problems: [
      "KEY_NOT_FOUND",
      "GENERATION_MOVED",
      "KEY_DESTROYED",
      "KEYGEN_DISPUTED",
      "SHARE_MISSING",
      "INTEGRITY_FAILURE",
    ],
  }),
  destroyKey: endpoint({
    ...change,
    path: pathTo("destroy"),
    summary: "Destroy a generation, or the key",
    description:
      "Every member erases its share; records and public key stay. The active generation goes only with `final: true`, and all others with it; the id is never free again.",
    permissions: [allowing("destroy")],
    parameters: [keyId],
    body: { shape: keyDestructionShape, maxBytes, example: { baseGeneration: 2, generation: 1 } },
    answers: {
      200: { description: "The key, with the generation that is destroyed.", ...shown, example: exampleDestroyed },
    },
    problems: [
      "KEY_NOT_FOUND",
      "GENERATION_NOT_FOUND",
      "GENERATION_MOVED",
      "GENERATION_IN_USE",
      "KEY_DESTROYED",
      "INTEGRITY_FAILURE",
    ],
  }),
  sign: endpoint({
    ...change,
    path: pathTo("sign"),
    summary: "Sign with as many members as it takes",
    description:
      "Through any unsealed peer, whether it has a share or not. `hash` is done to the data first; `NONE` by default. Each request is another operation.",
    permissions: [allowing("sign")],
    parameters: [keyId],
    body: { shape: signingShape, maxBytes: Limits.signingBodyBytes, example: exampleSigning },
    answers: {
      200: {
        description: "The signature; it was verified.",
        shape: signatureShape,
        example: {
          type: "arbitrary",
          signature64: exampleSignature64,
          generation: 1,
          imposters: [],
          operationId: "0123456789abcdef".repeat(4),
        },
      },
    },
    problems: [
      "INVALID_COMMAND",
      "UNSUPPORTED_ALGORITHM",
      "KEY_NOT_FOUND",
      "GENERATION_NOT_FOUND",
      "AUTHORITY_NOT_ATTACHED",
      "GENERATION_MOVED",
      "KEY_DESTROYED",
      "KEY_UNSHARED",
      "SIGNING_QUORUM_UNAVAILABLE",
      "SHARE_MISSING",
      "INTEGRITY_FAILURE",
    ],
  }),
  verify: endpoint({
    ...read,
    method: "POST",
    path: pathTo("verify"),
    summary: "Verify a signature with a key's public key",
    description: "At this peer, of whichever generation is named, the newest otherwise; also of a destroyed one.",
    permissions: [allowing("verify")],
    parameters: [keyId],
    body: { shape: verificationShape, maxBytes: Limits.signingBodyBytes, example: exampleVerification },
    answers: { 200: { description: "The verdict.", shape: verdictShape, example: { valid: true } } },
    problems: ["INVALID_COMMAND", "UNSUPPORTED_ALGORITHM", "KEY_NOT_FOUND", "GENERATION_NOT_FOUND"],
  }),
  repairKey: endpoint({
    ...change,
    kind: "operator",
    path: pathTo("repair"),
    summary: "Give this peer its missing shares again",
    description:
      "Sent to the peer whose `health` is `SHARE_MISSING`, with as many helpers as sign. It changes nothing at the others; refresh the key afterwards.",
    permissions: [REPAIR_PERMISSION],
    parameters: [keyId],
    body: { shape: repairShape, maxBytes: REPAIR_BODY_BYTES, example: { helpers: [2, 3] } },
    answers: {
      200: { description: "What was repaired.", shape: repairedShape, example: { generations: [1] } },
    },
    problems: [
      "KEY_NOT_FOUND",
      "KEY_DESTROYED",
      "REPAIR_IMPOSSIBLE",
      "REPAIR_FAILED",
      "INTEGRITY_FAILURE",
      "KEY_REPLICATION_UNAVAILABLE",
      "REQUEST_CAPACITY",
      "NOT_INITIALIZED",
    ],
  }),
};
