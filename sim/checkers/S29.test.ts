import { Encoding } from "effect";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { expect, it } from "vitest";
import { enrolling, offerOf, sessionsOf } from "../../properties/cluster/Enrolling.ts";
import { watched } from "../../properties/cluster/Watching.ts";
import type { Digest } from "../../core/base/Digest.ts";
import type { Rows } from "../../core/Tables.ts";
import { Violation } from "../base/Violation.ts";
import { INVITATION_MARK, INVITATION_MARKS } from "../crypto/SecretMarks.ts";
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
