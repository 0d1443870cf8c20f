/** The calls of operators, what they and their machines ask, and the configuration (contract 2.7, 4.2, 4.5). */
import {
  initShape,
  maxRecipientsBodyBytes,
  maxSystemBodyBytes,
  noFields,
  rekeyShape,
  unsealShape,
} from "../SystemBodies.ts";
import { integer } from "../../../core/codec/Shape.ts";
import { endpoint } from "./Endpoint.ts";
import { exampleShare } from "./Examples.ts";
import {
  auditPageShape,
  configurationShape,
  healthShape,
  initializedShape,
  readableShape,
  readyShape,
  rekeyedShape,
  restoredShape,
  rotatedShape,
  stateShape,
  statusShape,
  unsealedShape,
} from "./SystemAnswers.ts";

const SYSTEM = "/v1/custody/system";
const tag = "System";
const TAR = "application/x-tar";

/** The greatest values of the parameters of the audit. */
export const auditBounds = { since: Number.MAX_SAFE_INTEGER, limit: 1000 } as const;

const noBody = { shape: noFields, maxBytes: maxSystemBodyBytes, isOptional: true, example: {} } as const;

export const systemEndpoints = {
  initialize: endpoint({
    method: "POST",
    path: `${SYSTEM}/init`,
    tag,
    summary: "Make the keys of a peer and their unseal shares",
    description: "The answer holds secrets and is given once. May be repeated until the first unseal.",
    kind: "operator",
    token: "required",
    permissions: ["service.system.init"],
    body: {
      shape: initShape,
      maxBytes: maxRecipientsBodyBytes,
      example: { peerId: 1, threshold: 2, total: 3 },
    },
    answers: {
      200: {
        description: "The shares.",
        shape: initializedShape,
        example: {
          peerId: 1,
          threshold: 2,
          total: 3,
          shares64: [exampleShare, exampleShare, exampleShare],
          sharesNeeded: 2,
        },
      },
    },
    problems: ["ALREADY_INITIALIZED", "INTEGRITY_FAILURE"],
  }),
  unseal: endpoint({
    method: "POST",
    path: `${SYSTEM}/unseal`,
    tag,
    summary: "Hand in one unseal share",
    description: "Shares that do not fit together are all forgotten.",
    kind: "operator",
    token: "required",
    permissions: ["service.system.unseal"],
    body: { shape: unsealShape, maxBytes: maxSystemBodyBytes, isSecret: true, example: { share64: exampleShare } },
    answers: {
      200: {
        description: "How far the unseal is.",
        shape: unsealedShape,
        example: { state: "SEALED", have: 1, need: 2 },
      },
    },
    problems: ["INVALID_SHARE", "NOT_INITIALIZED", "INTEGRITY_FAILURE"],
  }),
  rekey: endpoint({
    method: "POST",
    path: `${SYSTEM}/rekey`,
    tag,
    summary: "Make new unseal shares for the same keys",
    description:
      "From `PRESENT_SHARES` through `NEW_SHARES` to `DONE`: present shares first, then the new ones, which are answered once.",
    kind: "operator",
    token: "required",
    permissions: ["service.system.rekey"],
    body: {
      shape: rekeyShape,
      maxBytes: maxRecipientsBodyBytes,
      isSecret: true,
      example: { start: true, shares: 5, threshold: 3 },
    },
    answers: {
      200: {
        description: "How far the rekey is.",
        shape: rekeyedShape,
        example: { step: "PRESENT_SHARES", have: 0, need: 2, shares: 5, threshold: 3 },
      },
    },
    problems: ["INVALID_SHARE", "REKEY_STEP", "NOT_INITIALIZED", "SEALED", "VERIFYING", "INTEGRITY_FAILURE"],
  }),
  seal: endpoint({
    method: "POST",
    path: `${SYSTEM}/seal`,
    tag,
    summary: "Forget the keys until the next unseal",
    kind: "operator",
    token: "required",
    permissions: ["service.system.seal"],
    body: noBody,
    answers: { 200: { description: "Sealed.", shape: stateShape, example: { state: "SEALED" } } },
    problems: ["NOT_INITIALIZED", "INTEGRITY_FAILURE"],
  }),
  restore: endpoint({
    method: "POST",
    path: `${SYSTEM}/restore`,
    tag,
    summary: "Declare that this peer's disk is an old one",
    description: "The peer takes the registry, verified, from the other members.",
    kind: "operator",
    token: "required",
    permissions: ["service.system.restore"],
    body: noBody,
    answers: {
      200: { description: "Declared.", shape: restoredShape, example: { state: "SEALED", incarnation: null } },
    },
    problems: ["RESTORE_IMPOSSIBLE", "NOT_INITIALIZED", "INTEGRITY_FAILURE", "VERIFYING", "RECOVERING"],
  }),
  backup: endpoint({
    method: "POST",
    path: `${SYSTEM}/backup`,
    tag,
    summary: "Take a copy of all that a peer stores",
    description:
      "A tar of `manifest.json`, signed by the peer, and `custody.db`, its database at one moment, with private keys encrypted. One at a time.",
    kind: "operator",
    token: "required",
    permissions: ["service.system.backup"],
    body: noBody,
    answers: { 200: { description: "The tar.", type: TAR, headers: ["Content-Disposition"] } },
    problems: ["BACKUP_UNDER_WAY", "NO_SPACE", "SEALED", "VERIFYING", "NOT_INITIALIZED", "INTEGRITY_FAILURE"],
  }),
  rotateIntegrity: endpoint({
    method: "POST",
    path: `${SYSTEM}/integrity/rotate`,
    tag,
    summary: "Seal rows with a new integrity key from now on",
    kind: "operator",
    token: "required",
    permissions: ["service.system.integrity"],
    body: noBody,
    answers: { 200: { description: "Rotated.", shape: rotatedShape, example: { integrityKeyVersion: 2 } } },
    problems: ["SEALED", "VERIFYING", "RECOVERING", "NOT_INITIALIZED", "INTEGRITY_FAILURE"],
  }),
  readStatus: endpoint({
    method: "GET",
    path: `${SYSTEM}/status`,
    tag,
    summary: "The state of a peer, for operators in detail",
    description: "Without a token the state alone; with `service.control.system` the detail.",
    kind: "open",
    token: "optional",
    answers: { 200: { description: "The state.", shape: statusShape, example: { state: "UNSEALED" } } },
    problems: [],
  }),
  readHealth: endpoint({
    method: "GET",
    path: `${SYSTEM}/health`,
    tag,
    summary: "Whether this process answers",
    kind: "open",
    token: "none",
    answers: { 200: { description: "It does.", shape: healthShape, example: { status: "ok" } } },
    problems: [],
  }),
  readReadable: endpoint({
    method: "GET",
    path: `${SYSTEM}/readable`,
    tag,
    summary: "Whether reads are answered here now",
    description: "From a registry without doubt; else why not.",
    kind: "read",
    token: "none",
    answers: { 200: { description: "They are.", shape: readableShape, example: { readable: true } } },
    problems: ["TOKEN_KEYS_UNAVAILABLE", "STOPPING"],
  }),
  readReady: endpoint({
    method: "GET",
    path: `${SYSTEM}/ready`,
    tag,
    summary: "Whether a change would be accepted now",
    kind: "open",
    token: "none",
    answers: { 200: { description: "It would.", shape: readyShape, example: { ready: true } } },
    problems: ["NOT_READY", "STOPPING"],
  }),
  readAudit: endpoint({
    method: "GET",
    path: "/v1/custody/audit",
    tag,
    summary: "Read the audit of this peer in pages",
    description: "Oldest first; at most `limit` events, or about 1 MiB of them. Never waits for a new one.",
    kind: "read",
    token: "required",
    permissions: ["service.audit.read"],
    parameters: [
      {
        in: "query",
        name: "since",
        description: "The sequence number of the first event.",
        schema: { ...integer(1, auditBounds.since).schema, default: 1 },
        example: "1",
      },
      {
        in: "query",
        name: "limit",
        description: "The most events.",
        schema: { ...integer(1, auditBounds.limit).schema, default: 100 },
        example: "100",
      },
    ],
    answers: {
      200: {
        description: "A page; the next one is since `next`.",
        shape: auditPageShape,
        example: { peerId: 1, events: [], next: 1, head: { seq: 0, hash: "0".repeat(64) } },
      },
    },
    problems: ["INVALID_QUERY", "REQUEST_CAPACITY"],
  }),
  readConfiguration: endpoint({
    method: "GET",
    path: "/v2/custody/config",
    tag: "Configuration",
    summary: "What this cluster is configured for",
    description: "In every state, once initialized.",
    kind: "open",
    token: "required",
    answers: {
      200: {
        description: "The configuration, without secrets and connections.",
        shape: configurationShape,
        example: {
          threshold: 2,
          total: 3,
          features: ["core", "keys"],
          authorities: ["custom"],
          sealProvider: "shamir",
        },
      },
    },
    problems: ["NOT_INITIALIZED"],
  }),
};
