import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { actor, type Cluster, codeOf, crypto, founded, rowsOf, whole } from "../../../properties/cluster/Cluster.ts";
import {
  credential,
  enrolling,
  finish,
  offerOf,
  posted,
  relyingParty,
  sessionsOf,
} from "../../../properties/cluster/Enrolling.ts";
import { openStep } from "../../../properties/cluster/OpenStep.ts";
import { packedSelf } from "../../../properties/webauthn/Authenticator.ts";
import type { Digest } from "../../base/Digest.ts";
import type { Message } from "../../Message.ts";
import type { EvaluationContext } from "../../protocol/EvaluationContext.ts";
import type { Rows, RowView, TableName, Write } from "../../Tables.ts";
import { enrollmentOf, isOptions, OPTIONS_PATH } from "./Enrollment.ts";
import { enrollPasskey } from "./EnrollPasskey.ts";
import { type Finish, FINISH_PATH, finishOf, isFinish, responseIn } from "./Finish.ts";

const TTL = relyingParty.registrationTtlMillis;
/** Intercepted, not sent. */
const without =
  (...tags: ReadonlyArray<Message["_tag"]>) =>
  (_from: number, _to: number, message: Message): Message | undefined =>
    tags.includes(message._tag) ? undefined : message;
const completedOf = (cluster: Cluster, peerId: number) => {
  const [key = ""] = cluster.tables.get(peerId)?.get("sessions")?.keys() ?? [];
  return cluster.row(peerId, "sessions", key)?.completed;
};

describe("a finish", () => {
  it.each([1, 2, 3])("enrolls the credential at every member of %i, through any of them", (total) => {
    const cluster = enrolling(total);
    const offer = offerOf(cluster, 1, "options");
    const response = credential(offer, { attestation: packedSelf, signCount: 7 });
    finish(cluster, total, "finish", offer.invitation, response);
    cluster.pass(3_000);
    const answer = cluster.answers.get("finish");
    expect(answer).toMatchObject({
      _tag: "Registered",
      created: true,
      approver: { id: "alice", metadata: [["team", "a"]], revision: 1 },
      observations: { signCount: 7, backupState: false },
    });
    if (answer?._tag !== "Registered") return;
    const { ref, descriptor } = answer.approver;
    expect(ref).toBe(`alice@sha256:${crypto.sha256OfText(`SERVICE_APPROVER_V1\0${descriptor}`)}`);
    expect(JSON.parse(descriptor)).toMatchObject({ credentialId: response.id, userHandle: offer.publicKey.user.id });
    for (const table of ["approvers", "credentials", "completions", "observations", "keys", "sessions"] as const)
      expect(rowsOf(cluster, table), table).toEqual(Array(total).fill(1));
    // The slot after the founding.
    expect(rowsOf(cluster, "audit")).toEqual(Array(total).fill(2));
    for (let peerId = 1; peerId <= total; peerId++) expect(completedOf(cluster, peerId)).toMatchObject({ ref });
  });

  it("is 200 again for the identical response through any peer until the deadline, then 410, and writes nothing", () => {
    const cluster = enrolling(3);
    const offer = offerOf(cluster, 2, "options");
    const response = credential(offer);
    finish(cluster, 3, "first", offer.invitation, response);
    cluster.pass(3_000);
    const before = cluster.committed.length;
    // Formatting does not matter: the members of the credential come in another order.
    const reordered = Object.fromEntries(Object.entries(response).toReversed());
    for (const through of [1, 2, 3]) finish(cluster, through, `again-${through}`, offer.invitation, reordered);
    cluster.pass(1_000);
    for (const through of [1, 2, 3])
      expect(cluster.answers.get(`again-${through}`)).toMatchObject({
        _tag: "Registered",
        created: false,
        observations: { signCount: 0 },
      });
    cluster.pass(TTL);
    finish(cluster, 2, "late", offer.invitation, response);
    cluster.pass(1_000);
    expect(codeOf(cluster, "late")).toBe("REGISTRATION_EXPIRED");
    expect(cluster.committed.length).toBe(before);
  });

  it("is 409 with another response for ever, and its invitation names nothing more an hour later", () => {
    const cluster = enrolling(2);
    const offer = offerOf(cluster, 1, "options");
    finish(cluster, 2, "first", offer.invitation, credential(offer));
    cluster.pass(3_000);
    finish(cluster, 2, "other", offer.invitation, credential(offer, { seed: "another" }));
    // The same credential in other words is another response too.
    finish(cluster, 1, "same", offer.invitation, { ...credential(offer), authenticatorAttachment: "platform" });
    cluster.pass(1_000);
    expect([codeOf(cluster, "other"), codeOf(cluster, "same")]).toEqual([
      "REGISTRATION_COMPLETED",
      "REGISTRATION_COMPLETED",
    ]);
    expect(cluster.answers.get("same")).toMatchObject({ rejection: { outcomeUnknown: false } });
    cluster.judge = () =>
      actor._tag === "Verified"
        ? { _tag: "Verified", claims: { ...actor.claims, expiresAt: actor.claims.expiresAt + 36_000_000 } }
        : actor;
    cluster.pass(TTL + 3_600_000);
    finish(cluster, 2, "forgotten", offer.invitation, credential(offer));
    cluster.pass(1_000);
    expect(codeOf(cluster, "forgotten")).toBe("REGISTRATION_NOT_FOUND");
  });

  it("is refused and changes no byte for whatever is wrong with it, and then succeeds", () => {
    const cluster = enrolling(3);
    const offer = offerOf(cluster, 1, "options");
    const other = offerOf(cluster, 2, "other", "bob");
    const before = cluster.committed.length;
    const honest = credential(offer);
    const wrong: ReadonlyArray<readonly [string, unknown, string]> = [
      [offer.registrationId, honest, "REGISTRATION_NOT_FOUND"],
      ["x", honest, "INVALID_CEREMONY"],
      [offer.invitation, { ...honest, rawId: "AAAA" }, "INVALID_CEREMONY"],
      [other.invitation, honest, "INVALID_CEREMONY"],
      [offer.invitation, credential(offer, { origin: "https://evil.example" }), "INVALID_CEREMONY"],
      [offer.invitation, credential(offer, { flags: 0x41 }), "INVALID_CEREMONY"],
      [offer.invitation, {}, "INVALID_REQUEST_BODY"],
    ];
    wrong.forEach(([invitation, response, code], index) => {
      for (const through of [1, 3]) {
        const requestId = `wrong-${index}-${through}`;
        finish(cluster, through, requestId, invitation, response);
        cluster.pass(100);
        expect(codeOf(cluster, requestId), requestId).toBe(code);
      }
    });
    cluster.judge = () => ({ _tag: "Refused", reason: "it is forged" });
    finish(cluster, 3, "unknown holder", offer.invitation, honest);
    expect(codeOf(cluster, "unknown holder")).toBe("UNAUTHENTICATED");
    expect(cluster.committed.length).toBe(before);
    // The holder is not the registrar, and has no permission but the invitation.
    cluster.judge = () =>
      actor._tag === "Verified"
        ? { _tag: "Verified", claims: { ...actor.claims, sub: "holder", permissions: [] } }
        : actor;
    finish(cluster, 3, "right", offer.invitation, honest);
    cluster.pass(3_000);
    expect(cluster.answers.get("right")).toMatchObject({ _tag: "Registered", created: true });
  });

  it("names the check that failed", () => {
    const cluster = enrolling(1);
    const offer = offerOf(cluster, 1, "options");
    finish(cluster, 1, "finish", offer.invitation, credential(offer, { origin: "https://evil.example" }));
    expect(cluster.answers.get("finish")).toMatchObject({ rejection: { faults: [{ code: "origin" }] } });
  });

  it("has one winner where two responses race through two peers; the other is 409", () => {
    const cluster = enrolling(3);
    const offer = offerOf(cluster, 1, "options");
    finish(cluster, 2, "one", offer.invitation, credential(offer, { seed: "one" }));
    finish(cluster, 3, "two", offer.invitation, credential(offer, { seed: "two" }));
    // The same response joins the round under way.
    finish(cluster, 1, "again", offer.invitation, credential(offer, { seed: "one" }));
    cluster.pass(4_000);
    const codes = ["one", "two", "again"].map((requestId) => codeOf(cluster, requestId));
    expect(codes.filter((code) => code === "REGISTRATION_COMPLETED").length).toBeGreaterThan(0);
    expect(rowsOf(cluster, "approvers")).toEqual([1, 1, 1]);
    expect(codes.filter((code) => code === "Registered").length).toBe(codes[0] === "Registered" ? 2 : 1);
  });

  it("has one credential once: a new session for it is 409, in the same id and in another", () => {
    const cluster = enrolling(2);
    for (const [id, expected] of [
      ["alice", "Registered"],
      ["alice", "CREDENTIAL_ALREADY_REGISTERED"],
      ["bob", "CREDENTIAL_ALREADY_REGISTERED"],
    ] as const) {
      const offer = offerOf(cluster, 2, `options of ${id} ${expected}`, id);
      finish(cluster, 1, `${id} ${expected}`, offer.invitation, credential(offer));
      cluster.pass(3_000);
      expect(codeOf(cluster, `${id} ${expected}`)).toBe(expected);
    }
    const again = offerOf(cluster, 1, "third");
    expect(again.publicKey.excludeCredentials).toEqual([{ type: "public-key", id: credential(again).id }]);
  });

  it("shares the owner of its key with SIGNATURE registrations, in either order", () => {
    for (const first of ["SIGNATURE", "WEBAUTHN"] as const) {
      const cluster = enrolling(2);
      const offer = offerOf(cluster, 1, "options", "bob");
      const response = credential(offer);
      const register = (): void => {
        const credentialJson = { type: "SIGNATURE", algorithm: "P256", publicKey64: keyOf(response) };
        const rawBody = Buffer.from(JSON.stringify({ id: "alice", credential: credentialJson }));
        cluster.ask(2, "register", { method: "POST", path: "/v1/custody/approvers", ifMatch: undefined, rawBody });
        cluster.pass(3_000);
      };
      if (first === "SIGNATURE") register();
      finish(cluster, 2, "finish", offer.invitation, response);
      cluster.pass(3_000);
      if (first === "WEBAUTHN") register();
      const [winner, loser] = first === "SIGNATURE" ? ["register", "finish"] : ["finish", "register"];
      expect([codeOf(cluster, winner ?? ""), codeOf(cluster, loser ?? "")], first).toEqual([
        "Registered",
        "KEY_ALREADY_REGISTERED",
      ]);
    }
  });

  it("is aborted where a member never got its session row, and leaves the session unfinished", () => {
    const cluster = enrolling(3);
    const offer = offerOf(cluster, 1, "options");
    const [key = ""] = cluster.tables.get(3)?.get("sessions")?.keys() ?? [];
    const row = cluster.row(3, "sessions", key);
    const write = (each: Write): void => cluster.stores.get(3)?.commit([each], () => undefined);
    write({ op: "remove", table: "sessions", key });
    finish(cluster, 2, "finish", offer.invitation, credential(offer));
    cluster.pass(6_000);
    expect(cluster.answers.get("finish")).toMatchObject({ rejection: { members: [{ peerId: 3 }] } });
    expect(rowsOf(cluster, "preparations")).toEqual([0, 0, 0]);
    expect([completedOf(cluster, 1), completedOf(cluster, 2)]).toEqual([undefined, undefined]);
    if (row !== undefined) write({ op: "insert", table: "sessions", key, row });
    finish(cluster, 2, "another", offer.invitation, credential(offer, { seed: "another" }));
    cluster.pass(6_000);
    expect(cluster.answers.get("another")).toMatchObject({ _tag: "Registered", created: true });
  });

  it("is completed by the survivors without the writer, after the deadline and without a token", () => {
    const cluster = enrolling(3);
    const offer = offerOf(cluster, 1, "options");
    cluster.tamper = (_from, to, message) => (message._tag === "Votes" && to === 1 ? undefined : message);
    finish(cluster, 2, "finish", offer.invitation, credential(offer));
    cluster.settle();
    expect(rowsOf(cluster, "preparations")).toEqual([1, 1, 1]);
    cluster.peers.get(1)?.stop();
    cluster.judge = () => ({ _tag: "Refused", reason: "it has expired" });
    cluster.now += TTL;
    cluster.tamper = whole;
    cluster.pass(5_000);
    expect(rowsOf(cluster, "approvers")).toEqual([0, 1, 1]);
    for (const peerId of [2, 3]) expect(completedOf(cluster, peerId)).toBeDefined();
  });

  it("is refused past its deadline by the member whose clock is there already, and by all after it", () => {
    const cluster = enrolling(2);
    const offer = offerOf(cluster, 1, "options");
    cluster.now += TTL + 1;
    finish(cluster, 2, "late", offer.invitation, credential(offer));
    cluster.pass(1_000);
    expect(codeOf(cluster, "late")).toBe("REGISTRATION_EXPIRED");
  });

  it("is void once the configuration of every member is another one", () => {
    let configDigest = "11".repeat(32) as never;
    const cluster = enrolling(2, () => ({ configDigest }));
    const offer = offerOf(cluster, 1, "options");
    configDigest = "22".repeat(32) as never;
    for (const peerId of [1, 2]) {
      cluster.peers.get(peerId)?.stop();
      cluster.start(peerId);
    }
    cluster.pass(3_000);
    finish(cluster, 2, "finish", offer.invitation, credential(offer));
    cluster.pass(1_000);
    expect(codeOf(cluster, "finish")).toBe("REGISTRATION_EXPIRED");
  });

  it("is void once a member was restored, at every peer; what was finished before stays", () => {
    const cluster = enrolling(3);
    const finished = offerOf(cluster, 1, "finished");
    finish(cluster, 2, "before", finished.invitation, credential(finished, { seed: "before" }));
    cluster.pass(3_000);
    const open = offerOf(cluster, 1, "open");
    cluster.peers.get(3)?.stop();
    cluster.start(3);
    cluster.peers.get(3)?.dispatch({ _tag: "DeclareRestore", requestId: "declare" });
    cluster.pass(20_000);
    for (const through of [1, 2, 3]) {
      finish(cluster, through, `void ${through}`, open.invitation, credential(open));
      finish(cluster, through, `again ${through}`, finished.invitation, credential(finished, { seed: "before" }));
      cluster.pass(1_000);
      expect(codeOf(cluster, `void ${through}`)).toBe("REGISTRATION_EXPIRED");
      expect(codeOf(cluster, `again ${through}`)).toBe("Registered");
    }
    const fresh = offerOf(cluster, 3, "fresh");
    finish(cluster, 2, "after", fresh.invitation, credential(fresh));
    cluster.pass(3_000);
    expect(cluster.answers.get("after")).toMatchObject({ _tag: "Registered", created: true });
  });

  it("keeps a session that a member crashed with, reserved, and completes it when it is back", () => {
    const cluster = enrolling(3);
    const offer = offerOf(cluster, 1, "options");
    cluster.tamper = without("Commit");
    finish(cluster, 2, "finish", offer.invitation, credential(offer));
    cluster.settle();
    cluster.peers.get(3)?.stop();
    cluster.start(3);
    cluster.tamper = whole;
    cluster.pass(6_000);
    expect(rowsOf(cluster, "approvers")).toEqual([1, 1, 1]);
    expect(completedOf(cluster, 3)).toBeDefined();
  });
});

describe("what a finish means", () => {
  const another = "22".repeat(32) as Digest;
  const cluster = enrolling(1);
  const offer = offerOf(cluster, 1, "options");
  const [row] = sessionsOf(cluster, 1);
  if (row === undefined) throw new Error("a session is open");
  const asked = () => posted(FINISH_PATH, { invitation: offer.invitation, credential: credential(offer) });

  /** A peer with these rows under any key, and otherwise the cluster's own rows. */
  const evaluationWith = (
    rows: Partial<Rows> = {},
    more: Partial<EvaluationContext["context"]> = {},
  ): EvaluationContext => {
    const { context, membership } = openStep(cluster, 1, cluster.now);
    const view = { get: (table: TableName, key: string) => rows[table] ?? context.view.get(table, key) };
    const settings = { ...context.settings, relyingParty };
    const known = { ...context, settings, view: view as RowView, ...more };
    return { context: known, membership, isCurrent: () => true, isLocked: () => false, slice: ({ empty }) => empty };
  };
  const meant = (): Finish => Either.getOrThrow(finishOf(evaluationWith(), asked()));

  it("is asked for by a POST, as options are", () => {
    for (const [is, path] of [
      [isFinish, FINISH_PATH],
      [isOptions, OPTIONS_PATH],
    ] as const) {
      expect(is(posted(path, {}))).toBe(true);
      expect(is({ ...posted(path, {}), method: "GET" })).toBe(false);
    }
  });

  it("is nothing where nobody is enrolled, whatever is sent", () => {
    const disabled = founded(1);
    finish(disabled, 1, "finish", "", {});
    expect(codeOf(disabled, "finish")).toBe("WEBAUTHN_DISABLED");
  });

  it.each<readonly [string, Partial<Rows>, string]>([
    [
      "its session has expired",
      { sessions: { ...row, session: { ...row.session, expiresAt: cluster.now - 1 } } },
      "REGISTRATION_EXPIRED",
    ],
    ["its credential has an approver", { credentials: { ref: "another" } }, "CREDENTIAL_ALREADY_REGISTERED"],
    ["its key is another id's", { keys: { id: "another" } }, "KEY_ALREADY_REGISTERED"],
  ])("can never be done where %s", (_why, rows, code) => {
    expect(enrollPasskey.check(evaluationWith(rows), meant())).toMatchObject({
      _tag: "Impossible",
      isFinal: true,
      rejection: { code },
    });
  });

  it("can be done with a key that its own id has registered", () => {
    expect(enrollPasskey.check(evaluationWith({ keys: { id: "alice" } }), meant())._tag).toBe("Possible");
  });

  it("is found out for each session, each verifier and each configuration by itself", () => {
    const call = asked();
    expect(Either.getOrThrow(finishOf(evaluationWith(), call)).id).toBe("alice");
    const told: Rows["sessions"] = {
      ...row,
      session: { ...row.session, id: "bob" },
      ack: { ...row.ack, statement: { ...row.ack.statement, proposalId: another } },
    };
    expect(Either.getOrThrow(finishOf(evaluationWith({ sessions: told }), call)).id).toBe("bob");
    const strict = evaluationWith(
      { sessions: told },
      { ceremony: () => Either.left({ check: "origin", pointer: "", detail: "" }) },
    );
    expect(Either.isLeft(finishOf(strict, call))).toBe(true);
    expect(responseIn({ ...crypto, digest: () => another }, call)?.registrationId).toBe(another);
    expect(responseIn(crypto, call)?.registrationId).toBe(row.session.registrationId);
    const options = posted(OPTIONS_PATH, { id: "alice" });
    const { settings } = evaluationWith().context;
    for (const [each, isEnabled] of [
      [settings, true],
      [{ ...settings, relyingParty: undefined }, false],
    ] as const)
      expect(Either.isRight(enrollmentOf(each, options))).toBe(isEnabled);
  });
});

/** The key in a response, as a SIGNATURE registration sends it. */
const keyOf = (response: ReturnType<typeof credential>): string =>
  Buffer.from(response.response.publicKey, "base64url").toString("base64");
