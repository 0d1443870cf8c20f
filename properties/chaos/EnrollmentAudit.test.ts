/** The verdict on enrollments can fail: a cluster's true records pass, and each contradiction planted in them is found. */
import { describe, expect, it } from "vitest";
import type { Answer } from "../../core/Action.ts";
import { sessionDigest } from "../../core/commands/enrollPasskey/Session.ts";
import { rejection, type RejectionCode } from "../../core/base/Rejection.ts";
import type { Rows, TableName, Write } from "../../core/Tables.ts";
import type { MemoryTables } from "../../runtime/MemoryByteStore.ts";
import { recordJson } from "../../server/http/ApproverRecord.ts";
import { realCryptography } from "../../sim/crypto/Cryptography.ts";
import { EnrollmentRequests, type Finish } from "../../sim/requests/EnrollmentRequests.ts";
import type { Said } from "../../sim/requests/Said.ts";
import { Prng } from "../../sim/base/Prng.ts";
import { crypto } from "../cluster/Cluster.ts";
import { enrolling } from "../cluster/Enrolling.ts";
import { audit, type Evidence } from "./Audit.ts";
import type { Asked, Moment } from "./History.ts";
import type { Transaction } from "./Journal.ts";
import { evidenceOf, idOf, tokenOf, withPeer } from "./Recorded.ts";

/** A cluster that has offered a session through peer 1 and had it finished through peer 3. */
const enrolled = () => {
  const cluster = enrolling(3);
  const cryptography = realCryptography(new Prng(1));
  const requests = new EnrollmentRequests(cryptography);
  const invite = requests.invite("alice", "a");
  const invitedAt = cluster.committed.length;
  cluster.ask(1, "r1", invite.call);
  cluster.settle();
  const offered = cluster.answers.get("r1");
  if (offered?._tag !== "Offered") throw new Error("there were to be options");
  const finishedAt = cluster.committed.length;
  const made = { key: 1, credential: 1, signCount: 41, flaw: "nothing" } as const;
  const finish = requests.finish({ invite, offer: offered.offer }, made);
  cluster.ask(3, "r2", finish.call);
  cluster.pass(3_000);
  const done = cluster.answers.get("r2");
  if (done?._tag !== "Registered") throw new Error("alice was to be enrolled");
  const { algorithm, normal64: publicKey64 } = cryptography.sampleKey(made.key);
  const signing = JSON.stringify({ algorithm, publicKey64, type: "SIGNATURE", version: 1 });
  return { cluster, requests, invite, invitedAt, offered, finish, finishedAt, done, signing };
};

const shared = enrolled();
const { cluster, done, finish, invite, offered, requests, signing } = shared;
const { invitation, registrationId } = offered.offer;

const said: Said = {
  keyOf: (descriptor) => descriptor,
  byBody: () => undefined,
  replacementOf: () => undefined,
  finishOf: (bodyDigest) => requests.byBody(bodyDigest),
  inviteOf: (bodyDigest) => requests.inviteOf(bodyDigest),
  tokenOf,
};

const invited: Asked = { requestId: "r1", slot: 1, said: invite, token: "good", at: shared.invitedAt };
const finished: Asked = { requestId: "r2", slot: 3, said: finish, token: "good", at: shared.finishedAt };
const sent = [invited, finished].map((asked): Moment => ({ _tag: "Asked", at: asked.at, asked }));
const end = cluster.committed.length;

const told: Extract<Moment, { readonly _tag: "Replied" }> = {
  _tag: "Replied",
  at: shared.finishedAt - 0.5,
  asked: invited,
  answer: offered,
  body: "",
};
const success = { ...told, at: end, asked: finished, answer: done, body: recordJson(done) };

const evidence = (more: Partial<Evidence> = {}): Evidence =>
  evidenceOf(cluster, { moments: [...sent, told, success], said, invitations: [invitation], ...more });

/** Peer 3 as it would be had it written one table otherwise; undefined leaves a write out. */
const withPeer3 = <T extends TableName>(table: T, change: (row: Rows[T], op: Write["op"]) => Rows[T] | undefined) =>
  withPeer(evidence(), 3, (all) =>
    all.map((each): Transaction => {
      const writes = each.writes.flatMap((write): ReadonlyArray<Write> => {
        if (write.table !== table || write.op === "remove") return [write];
        const row = change(write.row as Rows[T], write.op);
        // Of the same table as the write it stands for, which the compiler cannot see.
        return row === undefined ? [] : [{ ...write, row } as Write];
      });
      return { ...each, writes };
    }),
  );

const refused = (who: Asked, code: RejectionCode): Moment => {
  const answer: Answer = { _tag: "Rejected", rejection: rejection(code, "", "") };
  return { ...told, at: end, asked: { ...who, requestId: "r3" }, answer };
};

const other = (more: Partial<Finish>): Asked => ({ ...finished, said: { ...finish, ...more } });

describe("the verdict on an enrollment", () => {
  it("is green on true records", () => {
    const verdict = audit(evidence());
    expect(verdict.violation).toBeUndefined();
    expect(verdict.checked).toEqual(expect.arrayContaining(["S8", "S10", "S14", "S15", "S16", "S24", "S29"]));
  });

  it("finds a credential with two approvers (S8)", () => {
    const peers = withPeer3("approvers", (row) => ({ ...row, ref: row.ref.replace(/.{4}$/, "0000") }));
    expect(idOf(evidence({ peers }))).toBe("S8");
  });

  it("finds a registrar with nine unfinished sessions (S10)", () => {
    const peers = withPeer(evidence(), 1, (all) =>
      all.map((each) => ({
        ...each,
        writes: each.writes.flatMap((write): ReadonlyArray<Write> => {
          if (write.table !== "sessions" || write.op !== "insert") return [write];
          const others = Array.from({ length: 8 }, (_, index): Write => {
            const { ack, session: first } = write.row;
            const key = crypto.sha256(Uint8Array.of(index));
            const session = { ...first, registrationId: key };
            const statement = { ...ack.statement, proposalId: sessionDigest(crypto, session) };
            return { ...write, key, row: { session, ack: { ...ack, statement }, completed: undefined } };
          });
          return [write, ...others];
        }),
      })),
    );
    expect(idOf(evidence({ peers }))).toBe("S10");
  });

  it("finds options of a session that a member does not keep, and options that were told twice (S14)", () => {
    const peers = withPeer3("sessions", () => undefined);
    expect(idOf(evidence({ peers }))).toBe("S14");
    const again: Moment = { ...told, asked: { ...invited, requestId: "r3" } };
    expect(idOf(evidence({ moments: [told, again] }))).toBe("S14");
    const somebody: Moment = { ...told, asked: { ...invited, said: { kind: "OPTIONS", id: "bob" } } };
    expect(idOf(evidence({ moments: [somebody] }))).toBe("S14");
  });

  it("finds an approver that is not the one whose response was sent (S14)", () => {
    for (const asked of [other({ id: "bob" }), other({ signCount: 42 }), other({ isHonest: false }), invited])
      expect(idOf(evidence({ moments: [told, { ...success, asked }] }))).toBe("S14");
  });

  it("finds a session that two responses have completed (S15)", () => {
    const peers = withPeer3("sessions", (row) =>
      row.completed === undefined
        ? row
        : { ...row, completed: { ...row.completed, responseDigest: crypto.sha256(Uint8Array.of(1)) } },
    );
    expect(idOf(evidence({ peers }))).toBe("S15");
  });

  it("finds a session that was changed without a certified response, or is not the one agreed on (S16)", () => {
    const challenge = new Uint8Array(32);
    const changed = withPeer3("sessions", (row) => ({ ...row, session: { ...row.session, challenge } }));
    expect(idOf(evidence({ peers: changed }))).toBe("S16");
    const early = withPeer3("sessions", (row, op) =>
      op === "insert" ? { ...row, completed: { responseDigest: crypto.sha256(challenge), ref: "" } } : row,
    );
    expect(idOf(evidence({ peers: early }))).toBe("S16");
  });

  it("finds a counter that went back (S24)", () => {
    const peers = withPeer(evidence(), 3, (all) =>
      all.map((each) => ({
        ...each,
        writes: each.writes.flatMap(
          (write): ReadonlyArray<Write> =>
            write.table === "observations" && write.op === "insert"
              ? [write, { ...write, op: "replace", row: { ...write.row, signCount: 40 } }]
              : [write],
        ),
      })),
    );
    expect(idOf(evidence({ peers }))).toBe("S24");
  });

  it("finds an invitation in a row, in a log and in an answer, in any form (S29)", () => {
    const bytes = Buffer.from(invitation, "base64url");
    for (const text of [invitation, bytes.toString("hex"), bytes.toString("base64"), `{"x":"${invitation}"}`]) {
      expect(idOf(evidence({ logLines: ["listening", `got ${text}`] }))).toBe("S29");
      expect(idOf(evidence({ moments: [told, { ...refused(finished, "SEALED"), body: text } as Moment] }))).toBe("S29");
    }
    const peers = withPeer(evidence(), 2, (all) =>
      all.map((each) => ({
        ...each,
        rows: each.rows.map(([table, key, row]) => [table, key, row && Buffer.concat([row, bytes])] as const),
      })),
    );
    expect(idOf(evidence({ peers }))).toBe("S29");
    expect(idOf(evidence({ logLines: [invitation.slice(1), registrationId] }))).toBeUndefined();
  });

  it("finds receipts for a response that nobody sent, or that is wrong (S30)", () => {
    expect(idOf(evidence({ said: { ...said, finishOf: () => undefined } }))).toBe("S30");
    expect(idOf(evidence({ said: { ...said, finishOf: () => ({ ...finish, isHonest: false }) } }))).toBe("S30");
    expect(idOf(evidence({ said: { ...said, finishOf: () => ({ ...finish, deadline: 1 }) } }))).toBe("S30");
  });

  it("finds a session that nobody asked for, or of another incarnation than configured (S30)", () => {
    expect(idOf(evidence({ said: { ...said, inviteOf: () => undefined } }))).toBe("S30");
    expect(idOf(evidence({ sessionMillis: 1_000 }))).toBe("S30");
  });

  it("finds refusals whose reasons are not true (S14)", () => {
    const moments = (who: Asked, code: RejectionCode, at = end): ReadonlyArray<Moment> => [
      told,
      { ...refused(who, code), at },
    ];
    const stranger = other({ descriptor: finish.descriptor.replace("localhost", "elsewhere"), credentialName: "x y" });
    for (const code of ["REGISTRATION_NOT_FOUND", "INVALID_CEREMONY", "CREDENTIAL_ALREADY_REGISTERED"] as const)
      expect(idOf(evidence({ moments: moments(stranger, code) }))).toBe("S14");
    expect(idOf(evidence({ moments: moments(finished, "REGISTRATION_COMPLETED") }))).toBe("S14");
    expect(idOf(evidence({ moments: moments(stranger, "REGISTRATION_COMPLETED", told.at + 0.1) }))).toBe("S14");
    expect(idOf(evidence({ moments: moments(stranger, "REGISTRATION_COMPLETED") }))).toBeUndefined();
    expect(idOf(evidence({ moments: moments(other({ isHonest: false }), "INVALID_CEREMONY") }))).toBeUndefined();
    expect(idOf(evidence({ moments: moments(finished, "KEY_ALREADY_REGISTERED") }))).toBe("S14");
    expect(idOf(evidence({ moments: moments(other({ id: "bob" }), "KEY_ALREADY_REGISTERED") }))).toBeUndefined();
  });

  it("knows the key of a passkey for the one that signs", () => {
    const claim = (id: string): Moment =>
      refused(
        { ...finished, said: { kind: "REGISTER", id, descriptor: signing, keyName: finish.keyName, team: "a" } },
        "KEY_ALREADY_REGISTERED",
      );
    expect(idOf(evidence({ moments: [claim("bob")] }))).toBeUndefined();
    expect(idOf(evidence({ moments: [claim("alice")] }))).toBe("S14");
  });

  it("finds a row of an enrollment that was deleted from a database", () => {
    for (const table of ["sessions", "completions", "credentials", "observations"] as const) {
      const { peers } = evidence();
      const tables: MemoryTables | undefined = peers[1]?.final.tables;
      expect(tables?.get(table)?.size).toBe(1);
      tables?.get(table)?.clear();
      expect(idOf(evidence({ peers }))).toBe("STORE");
    }
  });
});
