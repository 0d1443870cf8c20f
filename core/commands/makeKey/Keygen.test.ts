import { describe, expect, it } from "vitest";
import { type Cluster, codeOf } from "../../../properties/cluster/Cluster.ts";
import { create, each, held, keyed, renew } from "../../../properties/cluster/Keyed.ts";
import type { Message } from "../../Message.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import { generationKey } from "../keys/Tables.ts";

/** Ends a peer's process with its n-th transaction from now on, which reaches its disk or does not; nothing leaves. */
const crashAt = (cluster: Cluster, peerId: PeerId, n: number, isKept: boolean): (() => boolean) => {
  let left = n;
  let isDown = false;
  cluster.tamper = (from, _to, message) => (isDown && from === peerId ? undefined : message);
  cluster.flush = (of, _changes, flush) => {
    if (of !== peerId || isDown || --left > 0) return isDown && of === peerId ? undefined : flush();
    isDown = true;
    if (isKept) flush();
    cluster.peers.get(peerId)?.stop();
    cluster.peers.delete(peerId);
  };
  return () => isDown;
};

const heal = (cluster: Cluster): void => {
  cluster.tamper = (_from, _to, message) => message;
  cluster.flush = (_of, _changes, flush) => flush();
};

describe("a process that ends while a key is made", () => {
  const points = [1, 2, 3].flatMap((peerId) =>
    [1, 2, 3, 4].flatMap((n) => [true, false].map((isKept) => [peerId, n, isKept] as const)),
  );

  it.each(points)(
    "at peer %i with its transaction %i (kept: %s) leaves the key at all members or no share anywhere",
    (peerId, n, isKept) => {
      const cluster = keyed();
      const isDown = crashAt(cluster, peerId, n, isKept);
      create(cluster, 2, "request");
      cluster.pass(1_500);
      heal(cluster);
      if (isDown()) cluster.start(peerId);
      cluster.pass(62_000);
      const after = held(cluster);
      expect([each(0, 0), each(1, 1)]).toContainEqual(after);
      create(cluster, 3, "again");
      cluster.pass(1_500);
      expect(codeOf(cluster, "again")).toBe("KeyMade");
      expect(held(cluster)).toEqual(each(1, 1));
    },
    20_000,
  );

  it("before it is proposed does not hold up the next request, whatever the writer has lost", () => {
    const cluster = keyed();
    cluster.tamper = (_from, _to, message) => (message._tag === "Keygen.Stored" ? undefined : message);
    create(cluster, 2, "request");
    cluster.pass(400);
    expect(held(cluster)).toEqual({ keys: [0, 0, 0], shares: [0, 0, 0], pending: [0, 1, 1] });
    heal(cluster);
    cluster.peers.get(1)?.stop();
    cluster.start(1);
    cluster.pass(100);
    create(cluster, 3, "again");
    cluster.pass(1_500);
    expect(codeOf(cluster, "again")).toBe("KeyMade");
    expect(held(cluster)).toEqual(each(1, 1));
  });

  it.each([
    [
      "restarted",
      (cluster: Cluster) => {
        cluster.peers.get(3)?.stop();
        cluster.start(3);
      },
    ],
    [
      "sealed and unsealed",
      (cluster: Cluster) => {
        cluster.dispatch(3, { _tag: "Sealed" });
        cluster.unseal(3);
      },
    ],
  ])("of a member that told one other of its part is said when it was %s, and nobody accuses anybody", (_how, lose) => {
    const cluster = keyed();
    const told = new Set<string>();
    let isLost = false;
    cluster.tamper = (from, to, message) => {
      // The writer does not hear that it is not active.
      if (from === 3 && to === 1 && message._tag === "Ready" && message.mode !== "active") return undefined;
      if (from !== 3 || message._tag !== "Keygen.Package") return message;
      told.add(message.said.boxKey);
      return to === 2 && !isLost ? message : undefined;
    };
    create(cluster, 2, "request");
    cluster.pass(100);
    expect(told.size).toBe(1);
    isLost = true;
    lose(cluster);
    cluster.pass(200);
    cluster.pass(4_000);
    expect(told.size).toBe(1);
    expect(cluster.answers.get("request")).toMatchObject({
      rejection: { code: "APPROVER_REPLICATION_UNAVAILABLE", members: [{ peerId: 3, reason: "SESSION_LOST" }] },
    });
    expect(held(cluster)).toEqual(each(0, 0));
  });

  it("of a member that has stored its share does not keep it from voting", () => {
    const cluster = keyed();
    let lost = 0;
    cluster.tamper = (_from, to, message) =>
      message._tag === "Prepare" && to === 3 && lost++ < 1 ? undefined : message;
    create(cluster, 2, "request");
    cluster.pass(400);
    expect(held(cluster).pending).toEqual([1, 1, 1]);
    cluster.peers.get(3)?.stop();
    cluster.start(3);
    cluster.pass(4_000);
    expect(codeOf(cluster, "request")).toBe("KeyMade");
    expect(held(cluster)).toEqual(each(1, 1));
  });
});

describe("messages that are lost while a key is made", () => {
  it.each(["Keygen.Open", "Keygen.Package", "Keygen.Share", "Keygen.Stored"])(
    "are said again: the first three of %s",
    (tag) => {
      const cluster = keyed();
      let lost = 0;
      cluster.tamper = (_from, _to, message) => (message._tag === tag && lost++ < 3 ? undefined : message);
      create(cluster, 2, "request");
      cluster.pass(2_500);
      expect(codeOf(cluster, "request")).toBe("KeyMade");
      expect(held(cluster)).toEqual(each(1, 1));
    },
  );

  it("and come late begin nothing anew once the proposal of what was made is aborted", () => {
    const cluster = keyed();
    const told = new Set<string>();
    let late = (): void => undefined;
    let end = (): void => undefined;
    cluster.tamper = (from, to, message) => {
      if (from === 3 && message._tag === "Keygen.Package") told.add(message.said.boxKey);
      if (message._tag === "Keygen.Open") {
        const { sessionId } = message;
        end = () => cluster.deliver(2, 1, { _tag: "Keygen.Ended", sessionId, code: "EXPIRED", members: [] });
        if (to === 3) late = () => cluster.deliver(3, from, message);
      }
      // One member loses what it made, and refuses.
      if (message._tag === "Prepare" && to === 2) end();
      return message;
    };
    create(cluster, 2, "request");
    cluster.pass(1_000);
    expect(cluster.answers.get("request")?._tag).toBe("Rejected");
    expect(held(cluster)).toEqual(each(0, 0));
    late();
    cluster.pass(1_000);
    expect(told.size).toBe(1);
  });

  it("may come in any order, and twice", () => {
    const cluster = keyed();
    const early: Array<() => void> = [];
    cluster.tamper = (from, to, message) => {
      if (message._tag === "Keygen.Package" || message._tag === "Keygen.Share")
        early.push(() => cluster.deliver(to, from, message));
      if (message._tag !== "Keygen.Open" || to !== 3) return message;
      // It hears of the session when the others have told it theirs.
      return undefined;
    };
    create(cluster, 2, "request");
    cluster.pass(300);
    for (const again of early) again();
    heal(cluster);
    cluster.pass(1_000);
    expect(codeOf(cluster, "request")).toBe("KeyMade");
  });
});

describe("a member that does not do its part", () => {
  const quiet = (tag: string) => {
    const cluster = keyed();
    cluster.tamper = (from, _to, message) => (from === 3 && message._tag === tag ? undefined : message);
    return cluster;
  };

  it.each(["Keygen.Package", "Keygen.Share", "Keygen.Stored"])(
    "and says no %s is named, and holds up no other change",
    (tag) => {
      const cluster = quiet(tag);
      create(cluster, 2, "request");
      cluster.pass(1_000);
      cluster.register(2, "registration", "alice", 7);
      cluster.pass(1_000);
      expect(codeOf(cluster, "registration")).toBe("Registered");
      cluster.pass(8_000);
      expect(cluster.answers.get("request")).toMatchObject({
        _tag: "Rejected",
        rejection: { code: "APPROVER_REPLICATION_UNAVAILABLE", outcomeUnknown: false, members: [{ peerId: 3 }] },
      });
      expect(held(cluster)).toEqual(each(0, 0));
      heal(cluster);
      create(cluster, 2, "again");
      cluster.pass(400);
      expect(codeOf(cluster, "again")).toBe("KeyMade");
    },
  );

  it.each(["Keygen.Package", "Keygen.Share"])(
    "and tells one other no %s has nobody accused, as who does not finish may wait for it",
    (tag) => {
      const cluster = keyed();
      cluster.tamper = (from, to, message) => (from === 3 && to === 2 && message._tag === tag ? undefined : message);
      create(cluster, 2, "request");
      cluster.pass(10_000);
      const reason = "it has not finished making the key: it, or a member that it waits for, does not go on";
      expect(cluster.answers.get("request")).toMatchObject({ rejection: { members: [{ peerId: 2, reason }] } });
    },
  );

  it("and ends the session with a word of its own is named, and its word is told to nobody", () => {
    const cluster = keyed();
    const word = "call mallory at once";
    cluster.tamper = (from, _to, message) =>
      from === 3 && message._tag === "Keygen.Package"
        ? { _tag: "Keygen.Ended", sessionId: message.sessionId, code: word, members: [] }
        : message;
    create(cluster, 2, "request");
    cluster.pass(1_000);
    expect(cluster.answers.get("request")).toMatchObject({ rejection: { members: [{ peerId: 3 }] } });
    expect(JSON.stringify(cluster.answers.get("request"))).not.toContain(word);
  });

  it("and tells two different packages is found out, and nothing is made", () => {
    const cluster = keyed();
    cluster.tamper = (from, to, message) =>
      from === 3 && to === 2 && message._tag === "Keygen.Package"
        ? { ...message, said: { ...message.said, boxKey: `0${message.said.boxKey.slice(1)}` } }
        : message;
    create(cluster, 1, "request");
    cluster.pass(1_000);
    const answer = cluster.answers.get("request");
    if (answer?._tag !== "Rejected") throw new Error("it was not found out");
    expect(answer.rejection.code).toBe("KEYGEN_DISPUTED");
    expect(answer.rejection.members.map(({ peerId }) => peerId)).toContain(3);
    expect(held(cluster)).toEqual(each(0, 0));
  });

  it.each([
    [
      "box that does not open",
      (message: Message) =>
        message._tag === "Keygen.Share" ? { ...message, box: Uint8Array.from(message.box).fill(1) } : message,
    ],
    [
      "package without its proof",
      (message: Message) =>
        message._tag === "Keygen.Package" ? { ...message, said: { ...message.said, proof: "00".repeat(64) } } : message,
    ],
    [
      "package in another's place",
      (message: Message) =>
        message._tag === "Keygen.Package" ? { ...message, said: { ...message.said, index: 1 } } : message,
    ],
  ])("and sends a %s is named beside who received it", (_what, change) => {
    const cluster = keyed();
    cluster.tamper = (from, _to, message) => (from === 3 ? change(message) : message);
    create(cluster, 1, "request");
    cluster.pass(1_000);
    const answer = cluster.answers.get("request");
    if (answer?._tag !== "Rejected") throw new Error("it was not found out");
    expect(answer.rejection.code).toBe("KEYGEN_DISPUTED");
    expect(answer.rejection.members.map(({ peerId }) => peerId)).toContain(3);
    expect(held(cluster)).toEqual(each(0, 0));
  });
});

describe("a writer that lies", () => {
  const stolen = (change: (message: Message) => Message) => {
    const cluster = keyed();
    cluster.tamper = (from, _to, message) => (from === 1 && message._tag === "Keygen.Open" ? change(message) : message);
    create(cluster, 2, "request");
    cluster.pass(9_500);
    return cluster;
  };

  it.each([
    [
      "another call",
      (message: Message) =>
        message._tag === "Keygen.Open"
          ? {
              ...message,
              evidence: {
                ...message.evidence,
                call: {
                  ...message.evidence.call,
                  rawBody: Buffer.from(`{"keyId":"k2","algorithm":"ED25519","authorities":[{"id":"arbitrary"}]}`),
                },
              },
            }
          : message,
    ],
    [
      "another incarnation",
      (message: Message) => (message._tag === "Keygen.Open" ? { ...message, incarnations: [1, 2, 1] } : message),
    ],
  ])("about %s has nothing made", (_what, change) => {
    const cluster = stolen(change);
    expect(held(cluster)).toEqual(each(0, 0));
    expect(cluster.answers.get("request")?._tag).toBe("Rejected");
  });

  it("and opens one session for two requests is found out, and nothing is stored", () => {
    const cluster = keyed();
    const stored = new Set<number>();
    let first: string | undefined;
    cluster.tamper = (from, to, message) => {
      if (message._tag === "Keygen.Stored") stored.add(from);
      if (message._tag === "Keygen.Open") first ??= message.sessionId;
      if (message._tag === "Keygen.Open" && message.sessionId !== first)
        return to === 2 ? { ...message, sessionId: first as typeof message.sessionId } : undefined;
      return message._tag === "Keygen.Open" && to === 2 ? undefined : message;
    };
    create(cluster, 2, "request");
    create(cluster, 2, "another", { keyId: "k2" });
    cluster.pass(1_000);
    expect(codeOf(cluster, "request")).toBe("KEYGEN_DISPUTED");
    expect(stored).toEqual(new Set());
    expect(held(cluster).pending).toEqual([0, 0, 0]);
  });

  it("about the token has nothing made: every member judges it", () => {
    const cluster = keyed();
    const good = cluster.judge;
    cluster.judge = (peerId) => (peerId === 3 ? { _tag: "Refused", reason: "it is another's" } : good(peerId));
    create(cluster, 2, "request");
    cluster.pass(500);
    expect(codeOf(cluster, "request")).toBe("UNAUTHENTICATED");
    expect(held(cluster)).toEqual(each(0, 0));
  });
});

describe("a key that is made beside others", () => {
  it("is claimed: nobody registers it as an approver's", () => {
    const cluster = keyed();
    create(cluster, 2, "request");
    cluster.pass(400);
    const made = cluster.answers.get("request");
    if (made?._tag !== "KeyMade") throw new Error("no key was made");
    cluster.registerKey(3, "registration", "mallory", Buffer.from(made.generation.publicKey, "hex"));
    cluster.pass(400);
    expect(codeOf(cluster, "registration")).toBe("KEY_ALREADY_REGISTERED");
  });

  it("is not made where an approver has taken its public key meanwhile, and then another is", () => {
    const cluster = keyed();
    cluster.tamper = (_from, _to, message) => (message._tag === "Keygen.Stored" ? undefined : message);
    create(cluster, 2, "request");
    cluster.pass(400);
    const waiting = cluster.row(3, "pending", generationKey("k1", 1));
    cluster.registerKey(3, "registration", "mallory", Buffer.from(waiting?.publicKey ?? "", "hex"));
    cluster.pass(300);
    expect(codeOf(cluster, "registration")).toBe("Registered");
    heal(cluster);
    cluster.pass(2_000);
    expect(codeOf(cluster, "request")).toBe("KEY_ALREADY_REGISTERED");
    expect(held(cluster)).toEqual(each(0, 0));
    create(cluster, 2, "again");
    cluster.pass(400);
    expect(codeOf(cluster, "again")).toBe("KeyMade");
  });

  it("waits for its turn where more are asked for than are made at once", () => {
    const cluster = keyed();
    for (let key = 1; key <= 6; key++) create(cluster, 2, `request ${key}`, { keyId: `k${key}` });
    cluster.pass(3_000);
    for (let key = 1; key <= 6; key++) expect(codeOf(cluster, `request ${key}`)).toBe("KeyMade");
    expect(held(cluster)).toEqual(each(6, 6));
  });

  it("is refreshed by all or by nobody: whose share is missing says so", () => {
    const cluster = keyed();
    create(cluster, 2, "request");
    cluster.pass(400);
    // As after a restore: the rows of the key are there, the share is not.
    cluster.peers.get(3)?.stop();
    const disk = cluster.tables.get(3);
    cluster.start(3);
    cluster.pass(400);
    expect(disk?.get("shares")?.size).toBe(1);
    renew(cluster, 2, "refresh", "refresh", 1);
    cluster.pass(400);
    expect(cluster.answers.get("refresh")).toMatchObject({ _tag: "KeyMade", generation: { generation: 2 } });
    expect(held(cluster)).toEqual(each(1, 1));
  });
});
