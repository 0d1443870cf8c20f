import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it, vi } from "vitest";
import type { ActorCheck } from "../../auth/ActorCheck.ts";
import { Limits } from "../../base/Limits.ts";
import { takeStep } from "../../Peer.ts";
import type { Event } from "../../protocol/Event.ts";
import { freshRecovery } from "../../protocol/TakingOver.ts";
import { crypto } from "../../../properties/cluster/Cluster.ts";
import { KeyedCluster, keyActor } from "../../../properties/cluster/PlantedKeys.ts";
import {
  type Commitments,
  commitmentsOf,
  digestOf,
  PlayedCoordinator,
  signingBody,
} from "../../../properties/cluster/SigningByHand.ts";
import { heard, openStep } from "../../../properties/cluster/OpenStep.ts";
import { stateOf } from "../../../properties/cluster/Restoring.ts";
import type { SignMessageOf } from "./SignMessages.ts";
import { signingIn, signings } from "./SigningState.ts";

const data = utf8ToBytes("pay 5");
const other = utf8ToBytes("pay 5000");
const one = commitmentsOf(1);

const refusal = (code: string) => expect.objectContaining({ _tag: "Sign.Refused", code });

describe("a signer, of one session", () => {
  it("signs one package, repeats its share for another copy of it, and refuses any other for ever", () => {
    const played = new PlayedCoordinator();
    const own = played.committed("a", data);
    const asked = played.package("a", data, [one, own]);
    const share = played.hear(asked);
    expect(share).toMatchObject({ _tag: "Sign.Share", items: [{ index: 2 }] });
    const committed = played.cluster.committed.length;
    expect(played.hear(asked)).toEqual(share);
    expect(played.hear(played.package("a", data, [commitmentsOf(1, 8), own]))).toEqual(refusal("SESSION_TAKEN"));
    expect(played.hear(asked)).toEqual(share);
    expect(played.cluster.committed.length).toBe(committed);
    expect(played.consents).toBe(1);
  });

  it("repeats no share of a generation that is active no more", () => {
    const played = new PlayedCoordinator();
    const own = played.committed("a", data);
    const asked = played.package("a", data, [one, own]);
    expect(played.hear(asked)).toMatchObject({ _tag: "Sign.Share" });
    played.cluster.plantKey("payments", 2, 2);
    expect(played.hear(asked)).toEqual(refusal("GENERATION_AHEAD"));
  });

  it("tells two copies of a package in one message the same share, and signs neither of two others there", () => {
    const played = new PlayedCoordinator();
    const own = played.committed("a", data);
    const [item] = played.package("a", data, [one, own]).items;
    const [changed] = played.package("a", data, [commitmentsOf(1, 8), own]).items;
    if (item === undefined || changed === undefined) throw new Error("there is no item");
    played.hear({ _tag: "Sign.Package", items: [item, changed, item] });
    const shares = played.said.flatMap((each) => (each._tag === "Sign.Share" ? each.items : []));
    expect(shares.map(({ scalar }) => scalar)).toEqual([shares[0]?.scalar, shares[0]?.scalar]);
    expect(played.said).toContainEqual(refusal("SESSION_TAKEN"));
  });

  it.each<readonly [string, string, (own: Commitments) => ReadonlyArray<Commitments>]>([
    ["without its own commitments", "WRONG_SIGNERS", () => [one, commitmentsOf(3)]],
    ["with commitments of its own that it has not made", "WRONG_SIGNERS", () => [one, commitmentsOf(2)]],
    ["with its own commitments twice", "WRONG_SIGNERS", (own) => [own, own]],
    ["with another's commitments twice", "WRONG_SIGNERS", (own) => [one, commitmentsOf(1, 8), own]],
    ["with an index of no member", "WRONG_SIGNERS", (own) => [{ ...one, index: 9 }, own]],
    ["with fewer than sign", "WRONG_SIGNERS", (own) => [own]],
    ["with nobody", "WRONG_SIGNERS", () => []],
    ["with what is no element", "WRONG_SIGNERS", (own) => [{ ...one, hiding: "00" }, own]],
  ])("refuses a package %s, and its nonces are gone", (_, code, listed) => {
    const played = new PlayedCoordinator();
    const own = played.committed("a", data);
    const committed = played.cluster.committed.length;
    expect(played.hear(played.package("a", data, listed(own)))).toEqual(refusal(code));
    expect(played.hear(played.package("a", data, [one, own]))).toEqual(refusal("SESSION_UNKNOWN"));
    expect(played.cluster.committed.length).toBe(committed);
  });

  it("refuses a package for another message than the one it has judged", () => {
    const played = new PlayedCoordinator();
    const own = played.committed("a", data);
    expect(played.hear(played.package("a", other, [one, own]))).toEqual(refusal("WRONG_MESSAGE"));
    expect(played.hear(played.package("a", data, [one, own]))).toEqual(refusal("SESSION_UNKNOWN"));
    expect(played.consents).toBe(0);
  });

  it("takes a package from the session's coordinator alone", () => {
    const played = new PlayedCoordinator();
    const own = played.committed("a", data);
    expect(played.hear(played.package("a", data, [own, commitmentsOf(3)]), 3)).toEqual(refusal("SESSION_UNKNOWN"));
    expect(played.hear(played.package("a", data, [one, own]))).toMatchObject({ _tag: "Sign.Share" });
  });
});

describe("a signer that one coordinator has sign without pause", () => {
  it("repeats a share of another's session all the same, and none of that one's oldest", () => {
    const played = new PlayedCoordinator();
    const own = played.committed("a", data);
    const asked = played.package("a", data, [one, own]);
    const share = played.hear(asked);
    expect(share).toMatchObject({ _tag: "Sign.Share" });
    const signing = signingIn(stateOf(played.cluster, 2));
    const [done] = signing.spent.values();
    if (done === undefined) throw new Error("it has signed");
    const ofThird = Array.from({ length: 255 }, (_, at) => [`3/${at}`, { ...done, coordinator: 3 }] as const);
    Object.assign(signing, { spent: new Map([...signing.spent, ...ofThird]) });
    const committed = played.hear(played.open("b", other, { nonce: "m".repeat(32) }), 3);
    if (committed?._tag !== "Sign.Commit") throw new Error(`peer 2 says ${JSON.stringify(committed)}`);
    const ofOther = played.package("b", other, [committed.commitments, commitmentsOf(3)]);
    expect(played.hear(ofOther, 3)).toMatchObject({ _tag: "Sign.Share" });
    const { spent } = signingIn(stateOf(played.cluster, 2));
    expect([spent.size, spent.has("3/0"), spent.has("3/1")]).toEqual([256, false, true]);
    expect(played.hear(asked)).toEqual(share);
    expect(played.hear(ofOther, 3)).toMatchObject({ _tag: "Sign.Share" });
  });
});

describe("a signer whose coordinator uses the name of a session again", () => {
  it("answers another copy of the same call alike, and another call not", () => {
    const played = new PlayedCoordinator();
    const own = played.committed("a", data);
    expect(played.committed("a", data)).toEqual(own);
    expect(played.hear(played.open("a", other))).toEqual(refusal("SESSION_TAKEN"));
    expect(played.hear(played.open("a", data, { nonce: "m".repeat(32) }))).toEqual(refusal("SESSION_TAKEN"));
    played.hear(played.package("a", data, [one, own]));
    expect(played.hear(played.open("a", data))).toEqual(refusal("SESSION_TAKEN"));
  });

  it("says what it knows of the name before it reads another body for it", () => {
    const played = new PlayedCoordinator();
    const own = played.committed("a", data);
    const unread = { ...played.open("a", data).evidence, rawBody: utf8ToBytes("{}") };
    expect(played.hear(played.open("a", data, { evidence: unread }))).toEqual(refusal("SESSION_TAKEN"));
    played.hear(played.package("a", data, [one, own]));
    expect(played.hear(played.open("a", data, { evidence: unread }))).toEqual(refusal("SESSION_TAKEN"));
  });

  it.each<readonly [string, (played: PlayedCoordinator) => void]>([
    ["a crash", ({ cluster }) => cluster.start(2)],
    [
      "a seal",
      ({ cluster }) => {
        cluster.dispatch(2, { _tag: "Sealed" });
        cluster.unseal(2);
      },
    ],
    ["the time that a session has", ({ cluster }) => cluster.pass(Limits.signingSessionMillis + 2_000)],
  ])("never has the same nonces after %s", (_, happens) => {
    const played = new PlayedCoordinator();
    const own = played.committed("a", data);
    happens(played);
    played.cluster.pass(1_000);
    expect(played.hear(played.package("a", data, [one, own]))).toEqual(refusal("SESSION_UNKNOWN"));
    const fresh = played.committed("a", other);
    expect([fresh.hiding, fresh.binding]).not.toContain(own.hiding);
    expect([fresh.hiding, fresh.binding]).not.toContain(own.binding);
    expect(played.hear(played.package("a", other, [one, own]))).toEqual(refusal("WRONG_SIGNERS"));
  });

  it("has other nonces for the same name used by another coordinator", () => {
    const played = new PlayedCoordinator();
    const own = played.committed("a", data);
    const answer = played.hear(played.open("a", data), 3);
    expect(answer).toMatchObject({ _tag: "Sign.Commit" });
    expect(answer?._tag === "Sign.Commit" && answer.commitments.hiding).not.toBe(own.hiding);
  });
});

const without: ActorCheck =
  keyActor._tag === "Verified"
    ? { ...keyActor, claims: { ...keyActor.claims, permissions: ["service.key.other.sign"] } }
    : keyActor;

describe("what a signer judges for itself", () => {
  it.each<readonly [string, string, (played: PlayedCoordinator) => unknown]>([
    ["a bearer without the permission", "ACCESS_DENIED", (p) => p.hear(p.open("a", data), 1, without)],
    ["a bad token", "UNAUTHENTICATED", (p) => p.hear(p.open("a", data), 1, { _tag: "Refused", reason: "bad" })],
    [
      "a token that it cannot judge",
      "TOKEN_KEYS_UNAVAILABLE",
      (p) => p.hear(p.open("a", data), 1, { _tag: "Unavailable" }),
    ],
    ["a later generation than it has", "GENERATION_BEHIND", (p) => p.hear(p.open("a", data, { generation: 2 }))],
    [
      "an earlier one",
      "GENERATION_AHEAD",
      (p) => {
        p.cluster.plantKey("payments", 2, 2);
        return p.hear(p.open("a", data));
      },
    ],
    ["a deadline that is over", "EXPIRED", (p) => p.hear(p.open("a", data, { expiresAt: p.now - 1 }))],
    ["a deadline too far away", "EXPIRED", (p) => p.hear(p.open("a", data, { expiresAt: p.now + 60_001 }))],
    [
      "an operation of the future",
      "CLOCK_SKEW",
      (p) => p.hear(p.open("a", data, { timestamp: p.now + 5_001, expiresAt: p.now + 60_000 })),
    ],
    ["a nonce that is none", "WRONG_REQUEST", (p) => p.hear(p.open("a", data, { nonce: "short" }))],
    [
      "another call",
      "WRONG_REQUEST",
      (p) => p.hear(p.open("a", data, { evidence: { ...p.open("a", data).evidence, path: "/v1/custody/keys" } })),
    ],
    [
      "a body that is none",
      "INVALID_REQUEST_BODY",
      (p) => p.hear(p.open("a", data, { evidence: { ...p.open("a", data).evidence, rawBody: utf8ToBytes("{}") } })),
    ],
    [
      "a key that it lacks",
      "GENERATION_BEHIND",
      (p) => {
        const path = "/v1/custody/keys/unknown/sign";
        return p.hear(p.open("a", data, { evidence: { ...p.open("a", data).evidence, path } }));
      },
    ],
  ])("is %s: %s", (_, code, said) => {
    const played = new PlayedCoordinator();
    expect(said(played)).toEqual(refusal(code));
    expect(signingIn(stateOf(played.cluster, 2)).sessions.size).toBe(0);
  });

  it("is the deadline again, when the package comes", () => {
    const played = new PlayedCoordinator();
    const own = played.committed("a", data);
    played.cluster.clockOffset += 60_001;
    expect(played.hear(played.package("a", data, [one, own]))).toEqual(refusal("EXPIRED"));
    expect(played.consents).toBe(0);
  });

  it("is token and generation again, when the package comes", () => {
    const played = new PlayedCoordinator();
    const soon: ActorCheck =
      keyActor._tag === "Verified"
        ? { ...keyActor, claims: { ...keyActor.claims, expiresAt: played.now + 1_000 } }
        : keyActor;
    const first = played.hear(played.open("a", data), 1, soon);
    const second = played.committed("b", data);
    played.cluster.clockOffset += 2_000;
    const own = first?._tag === "Sign.Commit" ? first.commitments : one;
    expect(played.hear(played.package("a", data, [one, own]))).toEqual(refusal("UNAUTHENTICATED"));
    played.cluster.plantKey("payments", 2, 2);
    expect(played.hear(played.package("b", data, [one, second]))).toEqual(refusal("GENERATION_AHEAD"));
    expect(played.consents).toBe(0);
  });
});

describe("a peer that is being restored", () => {
  it("signs nothing and coordinates nothing: its rows may be about to go", () => {
    const played = new PlayedCoordinator();
    const step = openStep(played.cluster, 2, played.now, played.cluster.now);
    step.draft("rejoining").recovery = freshRecovery("the test");
    expect(heard(step, 1, played.open("a", data), [keyActor]).sendNow).toEqual([
      { _tag: "Send", to: 1, message: refusal("RECOVERING") },
    ]);
    const call = {
      method: "POST",
      path: played.open("a", data).evidence.path,
      ifMatch: undefined,
      rawBody: signingBody(data),
    };
    const asked: Event = { _tag: "Command", requestId: "one", call, token: "token", actor: keyActor };
    expect(takeStep(step.state, asked, step.context).thenSend).toContainEqual({
      _tag: "Reply",
      requestId: "one",
      answer: expect.objectContaining({
        rejection: expect.objectContaining({
          code: "SIGNING_QUORUM_UNAVAILABLE",
          members: [{ peerId: 2, reason: expect.stringContaining("recovering") }],
        }),
      }),
    });
  });
});

describe("sessions that a coordinator hoards", () => {
  it("are so many and no more, take nothing from other coordinators, and go in time", () => {
    const played = new PlayedCoordinator();
    const most = Limits.signingSessionsOfCoordinator;
    for (let at = 0; at < most; at += 1) played.committed(`hoarded ${at}`, data);
    expect(played.hear(played.open("one more", data))).toEqual(refusal("SESSION_CAPACITY"));
    const unread = { ...played.open("a", data).evidence, rawBody: utf8ToBytes("{}") };
    expect(played.hear(played.open("unread", data, { evidence: unread }))).toEqual(refusal("SESSION_CAPACITY"));
    expect(played.hear(played.open("of another", data), 3)).toMatchObject({ _tag: "Sign.Commit" });
    played.cluster.pass(Limits.signingSessionMillis + 1_000);
    expect(signingIn(stateOf(played.cluster, 2)).sessions.size).toBe(0);
    played.committed("later", data);
  });

  it.each<readonly [string, string, number, Partial<SignMessageOf<"Sign.Open">>]>([
    ["for want of bytes", "SESSION_CAPACITY", Limits.signingSessionBytes / 4 - 2, { sessionId: digestOf("b") }],
    ["under the name of another", "SESSION_TAKEN", 5, { nonce: "m".repeat(32) }],
  ])("make a signer read no more bodies, %s", (_, code, length, more) => {
    const played = new PlayedCoordinator();
    played.committed("a", data);
    const step = openStep(played.cluster, 2, played.now, played.cluster.now);
    for (const [key, held] of step.slice(signings).sessions)
      step
        .editIn(signings, "sessions")
        .set(key, { ...held, request: { ...held.request, data: new Uint8Array(length) } });
    const open = played.open("a", data, more);
    const hash = vi.spyOn(crypto, "sha256");
    const { sendNow } = heard(step, 1, open, [keyActor]);
    expect(sendNow).toEqual([{ _tag: "Send", to: 1, message: refusal(code) }]);
    expect(hash).not.toHaveBeenCalledWith(open.evidence.rawBody);
    hash.mockRestore();
  });

  it("hold no more bytes than a bound, whatever their number", () => {
    const played = new PlayedCoordinator();
    played.committed("a", data);
    const step = openStep(played.cluster, 2, played.now, played.cluster.now);
    const [held] = step.slice(signings).sessions.values();
    if (held === undefined) throw new Error("there is no session");
    const request = { ...held.request, data: new Uint8Array(Limits.signingSessionBytes) };
    step.editIn(signings, "sessions").set("3/large", { ...held, coordinator: 3, request });
    const { sendNow } = heard(step, 1, played.open("one more", data), [keyActor]);
    expect(sendNow).toEqual([{ _tag: "Send", to: 1, message: refusal("SESSION_CAPACITY") }]);
  });
});

describe("a flush of a consent", () => {
  it("that fails leaves nothing behind: no share has left, and the next process knows nothing of it", () => {
    const played = new PlayedCoordinator();
    const own = played.committed("a", data);
    played.cluster.flush = () => undefined;
    expect(played.hear(played.package("a", data, [one, own]))).toBeUndefined();
    played.cluster.flush = (_peerId, _changes, flush) => flush();
    played.cluster.start(2);
    played.cluster.pass(1_000);
    expect(played.said.filter(({ _tag }) => _tag === "Sign.Share")).toEqual([]);
    expect(played.consents).toBe(0);
    expect(played.hear(played.package("a", data, [one, own]))).toEqual(refusal("SESSION_UNKNOWN"));
  });

  it("comes before the share", () => {
    const played = new PlayedCoordinator();
    const own = played.committed("a", data);
    let flush = (): void => undefined;
    played.cluster.flush = (_peerId, _changes, carryOut) => {
      flush = carryOut;
    };
    expect(played.hear(played.package("a", data, [one, own]))).toBeUndefined();
    flush();
    expect(played.said.at(-1)).toMatchObject({ _tag: "Sign.Share" });
    expect(played.consents).toBe(1);
  });
});

describe("a share", () => {
  it("that does not open where it lies is none", () => {
    const cluster = new KeyedCluster();
    cluster.plantKey("payments");
    const name = [...(cluster.tables.get(2)?.get("shares")?.keys() ?? [])][0] ?? "";
    const box = cluster.row(3, "shares", name)?.box ?? new Uint8Array();
    cluster.write(2, [{ op: "replace", table: "shares", key: name, row: { box } }]);
    cluster.sign(2, "one", "payments", data);
    cluster.pass(1_000);
    expect(cluster.answers.get("one")).toMatchObject({ _tag: "Signed" });
    expect(cluster.tables.get(2)?.get("consents")?.size ?? 0).toBe(0);
  });
});
