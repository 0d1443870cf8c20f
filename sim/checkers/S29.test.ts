import { Encoding } from "effect";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { expect, it } from "vitest";
import { enrolling, offerOf, sessionsOf } from "../../properties/cluster/Enrolling.ts";
import { watched } from "../../properties/cluster/Watching.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { Rows } from "../../core/Tables.ts";
import { Violation } from "../base/Violation.ts";
import type { Message } from "../../core/Message.ts";
import { INVITATION_MARK, INVITATION_MARKS, TOKEN_MARK, TOKEN_MARKS } from "../crypto/SecretMarks.ts";
import { S29 } from "./S29.ts";

const cluster = enrolling(1);
offerOf(cluster, 1, "options");
const [honest] = sessionsOf(cluster, 1);
if (honest === undefined) throw new Error("a session is open");

/** As the simulator makes them: 32 bytes that begin with the mark. */
const invitation = new Uint8Array(32);
invitation.set(utf8ToBytes(INVITATION_MARK));
const digits = Encoding.encodeHex(invitation) as Digest;

/** A peer stores this session. */
const storing =
  (change: Partial<Rows["sessions"]["session"]>, key: Digest = honest.session.registrationId): (() => void) =>
  () => {
    const row = { ...honest, session: { ...honest.session, ...change } };
    S29(INVITATION_MARKS).flushed?.(watched(cluster, 1), [{ op: "insert", table: "sessions", key, row }]);
  };

it("lets a peer store a session", () => {
  expect(storing({})).not.toThrow();
});

it.each<readonly [string, () => void]>([
  ["bytes", storing({ userHandle: invitation })],
  ["digits, in the place of a digest", storing({ registrationId: digits })],
  ["digits, as the name of a row", storing({}, digits)],
  ["Base64url", storing({ id: Encoding.encodeBase64Url(invitation) })],
  ["Base64url within a text", storing({ metadata: [["note", `it is ${Encoding.encodeBase64Url(invitation)}`]] })],
])("finds an invitation that is stored as %s", (_form, store) => {
  expect(store).toThrow(Violation);
});

const token = `${TOKEN_MARK}7`;
const secrets = [...TOKEN_MARKS, ...INVITATION_MARKS];
const counters: Rows["counters"] = {
  incarnation: 1,
  batchNo: 1,
  batchHash: digits,
  auditSeq: 0,
  auditHash: digits,
  keptNo: 0,
  highSeq: 0,
  decidedSeq: 0,
  approvers: 0,
  registrySet: new Uint8Array(8),
  quarantine: undefined,
};

/** A peer stores these counters, with more than the codec knows. */
const counting = (more: object) => (): void => {
  const row = { ...counters, batchHash: honest.session.registrationId, auditHash: honest.session.registrationId };
  const write = { op: "replace", table: "counters", key: "self", row: { ...row, ...more } } as const;
  S29(secrets).flushed?.(watched(cluster, 1), [write]);
};

it("finds a token in any field of any row, in any form", () => {
  expect(counting({})).not.toThrow();
  expect(counting({ note: token })).toThrow("counters.note");
  expect(counting({ deep: [{ note: `Bearer ${token}` }] })).toThrow("counters.deep[].note");
  expect(counting({ registrySet: utf8ToBytes(token) })).toThrow("counters.registrySet");
  expect(counting({ batchHash: token.padEnd(64, "0") })).toThrow("counters.batchHash");
  expect(counting({ note: Encoding.encodeBase64(token) })).toThrow("counters.note");
});

const forward = {
  version: 1,
  requestId: "a request",
  entryPeer: 2,
  call: { method: "POST", path: "/", ifMatch: undefined, rawBody: invitation },
  token,
  receivedAt: 0,
  arrival: { process: honest.session.registrationId, millis: 0 },
  attestation: undefined,
};

const sending = (change: object) => (): void => {
  const message = { _tag: "Forward", forward: { ...forward, ...change } } as unknown as Message;
  S29(secrets).sent?.(watched(cluster, 1), message, 2, 0);
};

it("takes a token, and an invitation, where a request has it, and nowhere else in a message", () => {
  expect(sending({})).not.toThrow();
  expect(sending({ requestId: token })).toThrow(".forward.requestId");
  expect(sending({ token: Encoding.encodeBase64Url(invitation) })).toThrow(".forward.token");
  expect(sending({ call: { ...forward.call, rawBody: utf8ToBytes(token) } })).toThrow(".forward.call.rawBody");
  expect(sending({ call: { ...forward.call, path: `/${token}` } })).toThrow(".forward.call.path");
});
