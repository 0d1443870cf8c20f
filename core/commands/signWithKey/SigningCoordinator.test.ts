import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { codeOf, rowsOf, whole } from "../../../properties/cluster/Cluster.ts";
import { KeyedCluster, keyActor, eddsa } from "../../../properties/cluster/PlantedKeys.ts";
import { stateOf } from "../../../properties/cluster/Restoring.ts";
import type { Message } from "../../Message.ts";
import { generationKey } from "../keys/Tables.ts";
import { signingIn } from "./SigningState.ts";

const data = utf8ToBytes("pay 5");

const planted = (total = 3) => {
  const cluster = new KeyedCluster(total);
  const { generation } = cluster.plantKey("payments");
  const isGood = (requestId: string): boolean =>
    eddsa.verify(generation.publicKey, data, cluster.signatureOf(requestId) ?? "");
  return { cluster, isGood };
};

/** The members that an answer names, with why. */
const membersOf = (cluster: KeyedCluster, requestId: string) => {
  const answer = cluster.answers.get(requestId);
  return answer?._tag === "Rejected" ? answer.rejection.members : [];
};

const away = (peerId: number) => ({ peerId, reason: "it does not answer" });

const unprivileged =
  keyActor._tag === "Verified" ? { ...keyActor, claims: { ...keyActor.claims, permissions: [] } } : keyActor;

describe("a signature", () => {
  it.each([1, 2, 3])("is made by two of three through peer %i, with two consents", (through) => {
    const { cluster, isGood } = planted();
    cluster.sign(through, "one", "payments", data);
    cluster.settle();
    expect(cluster.answers.get("one")).toMatchObject({
      _tag: "Signed",
      type: "arbitrary",
      generation: 1,
      imposters: [],
    });
    expect(isGood("one")).toBe(true);
    expect(rowsOf(cluster, "consents").toSorted()).toEqual([0, 1, 1]);
    expect(
      cluster.row(through, "consents", [...(cluster.tables.get(through)?.get("consents")?.keys() ?? [])][0] ?? ""),
    ).toMatchObject({
      keyId: "payments",
      generation: 1,
      coordinator: through,
    });
  });

  it.each([1, 2, 3])("is made while peer %i is away, by each of the others", (gone) => {
    const { cluster, isGood } = planted();
    cluster.peers.delete(gone);
    const there = [1, 2, 3].filter((each) => each !== gone);
    for (const through of there) {
      cluster.sign(through, `${through}`, "payments", data);
      cluster.pass(1_000);
      expect(isGood(`${through}`)).toBe(true);
    }
  });

  it("asks whoever was away last, once it knows, and asks again when some time has gone by", () => {
    const { cluster } = planted();
    const asked: Array<number> = [];
    cluster.tamper = (_from, to, message) => {
      if (message._tag === "Sign.Open") asked.push(to);
      return message;
    };
    cluster.peers.delete(2);
    for (const requestId of ["one", "two", "three"]) {
      cluster.sign(1, requestId, "payments", data);
      cluster.pass(1_000);
    }
    expect(asked).toEqual([2, 3, 3, 3]);
    cluster.start(2);
    cluster.pass(10_000);
    cluster.sign(1, "four", "payments", data);
    cluster.settle();
    expect(codeOf(cluster, "four")).toBe("Signed");
  });

  it("is made with joining members: for weeks one may be away", () => {
    const { cluster, isGood } = planted();
    cluster.peers.delete(3);
    cluster.start(1);
    cluster.start(2);
    cluster.pass(1_000);
    cluster.sign(2, "one", "payments", data);
    cluster.pass(1_000);
    expect(isGood("one")).toBe(true);
  });

  it("is made through a peer whose own share is missing, which consents to nothing and writes nothing", () => {
    const { cluster, isGood } = planted();
    cluster.write(1, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
    const committed = cluster.committed.length;
    cluster.sign(1, "one", "payments", data);
    cluster.settle();
    expect(isGood("one")).toBe(true);
    expect(cluster.committed.slice(committed).map(({ peerId }) => peerId)).toEqual([2, 3]);
  });

  it("is made by two of five, while three are away", () => {
    const { cluster, isGood } = planted(5);
    for (const gone of [2, 3, 4]) cluster.peers.delete(gone);
    cluster.sign(1, "one", "payments", data);
    cluster.pass(1_000);
    expect(isGood("one")).toBe(true);
  });

  it("is not made by fewer; the answer names who is away", () => {
    const { cluster } = planted();
    cluster.peers.delete(2);
    cluster.peers.delete(3);
    cluster.sign(1, "one", "payments", data);
    cluster.pass(10_000);
    expect(codeOf(cluster, "one")).toBe("SIGNING_QUORUM_UNAVAILABLE");
    expect(membersOf(cluster, "one")).toEqual([away(2), away(3)]);
    expect(rowsOf(cluster, "consents")).toEqual([0, 0, 0]);
  });
});

describe("what a signature waits for", () => {
  it("is tried no more once its time is over, as after a pause of the process", () => {
    const { cluster } = planted();
    const asked: Array<number> = [];
    cluster.tamper = (_from, to, message) => {
      if (message._tag === "Sign.Open") asked.push(to);
      return message;
    };
    for (const gone of [2, 3]) cluster.peers.delete(gone);
    cluster.sign(1, "one", "payments", data);
    cluster.settle();
    const before = asked.length;
    cluster.now += 20_000;
    cluster.pass(0);
    expect(codeOf(cluster, "one")).toBe("SIGNING_QUORUM_UNAVAILABLE");
    expect(asked.slice(before)).toEqual([]);
  });

  it("is one flush of each signer, side by side, of a consent with its audit row and nothing else", () => {
    const { cluster, isGood } = planted();
    const { length } = cluster.committed;
    const held: Array<readonly [number, () => void]> = [];
    const said: Array<string> = [];
    cluster.flush = (peerId, _changes, flush) => void held.push([peerId, flush]);
    cluster.tamper = (from, to, message) => {
      said.push(`${from} ${to} ${message._tag}`);
      return message;
    };
    cluster.sign(1, "one", "payments", data);
    cluster.settle();
    expect(held.map(([peerId]) => peerId)).toEqual([1, 2]);
    expect(said).toEqual(["1 2 Sign.Open", "2 1 Sign.Commit", "1 2 Sign.Package"]);
    cluster.flush = (_peerId, _changes, flush) => flush();
    for (const [, flush] of held) flush();
    cluster.settle();
    expect(isGood("one")).toBe(true);
    expect(cluster.committed.length - length).toBe(2);
    for (const { changes } of cluster.committed.slice(length)) {
      const tables = changes.map(({ table }) => table).filter((table) => table !== "head" && table !== "seals");
      expect(tables.toSorted()).toEqual(["audit", "consents", "counters"]);
    }
  });
});

describe("a member that does wrong", () => {
  it("is named where its share is, and the others sign", () => {
    const { cluster, isGood } = planted();
    const lie = (message: Message): Message =>
      message._tag === "Sign.Share"
        ? { ...message, items: message.items.map((each) => ({ ...each, scalar: `00${each.scalar.slice(2)}` })) }
        : message;
    cluster.tamper = (from, _to, message) => (from === 2 ? lie(message) : message);
    cluster.sign(1, "one", "payments", data);
    cluster.pass(1_000);
    expect(cluster.answers.get("one")).toMatchObject({ _tag: "Signed", imposters: [2] });
    expect(isGood("one")).toBe(true);
  });

  it("is named where its commitments are no elements, and the others sign", () => {
    const { cluster, isGood } = planted();
    cluster.tamper = (from, _to, message) =>
      from === 2 && message._tag === "Sign.Commit"
        ? { ...message, commitments: { ...message.commitments, hiding: "54ff" } }
        : message;
    cluster.sign(1, "one", "payments", data);
    cluster.pass(1_000);
    expect(cluster.answers.get("one")).toMatchObject({ _tag: "Signed", imposters: [2] });
    expect(isGood("one")).toBe(true);
  });

  it("cannot answer for another", () => {
    const { cluster, isGood } = planted();
    cluster.tamper = (from, _to, message) =>
      from === 2 && message._tag === "Sign.Commit"
        ? { ...message, commitments: { ...message.commitments, index: 3 } }
        : message;
    cluster.sign(1, "one", "payments", data);
    cluster.pass(1_000);
    expect(cluster.answers.get("one")).toMatchObject({ _tag: "Signed", imposters: [] });
    expect(isGood("one")).toBe(true);
  });

  it("that commits and then says nothing costs an attempt", () => {
    const { cluster, isGood } = planted();
    cluster.tamper = (from, _to, message) => (from === 2 && message._tag === "Sign.Share" ? undefined : message);
    cluster.sign(1, "one", "payments", data);
    cluster.pass(5_000);
    expect(isGood("one")).toBe(true);
  });

  it("refuses for itself alone: another signs", () => {
    const { cluster, isGood } = planted();
    cluster.judge = (peerId) => (peerId === 2 ? unprivileged : keyActor);
    cluster.sign(1, "one", "payments", data);
    cluster.settle();
    expect(isGood("one")).toBe(true);
    expect(rowsOf(cluster, "consents")).toEqual([1, 0, 1]);
  });

  it("refuses for all once too many do: their reason is the answer", () => {
    const { cluster } = planted();
    cluster.judge = (peerId) => (peerId === 1 ? keyActor : unprivileged);
    cluster.sign(1, "one", "payments", data);
    cluster.settle();
    expect(codeOf(cluster, "one")).toBe("ACCESS_DENIED");
    expect(membersOf(cluster, "one").map(({ peerId }) => peerId)).toEqual([2, 3]);
    expect(rowsOf(cluster, "consents")).toEqual([0, 0, 0]);
  });

  it.each([
    ["KEY_DESTROYED", "the key is destroyed there"],
    ["KEY_UNSHARED", "it knows the key as whole at one member"],
    ["AUTHORITY_NOT_ATTACHED", "the authority is not attached or not enabled there"],
    ["INVALID_COMMAND", "it refuses the command"],
  ])("says nothing of the key in this peer's place, though no signature can do without it: %s", (code, reason) => {
    const { cluster, isGood } = planted(2);
    cluster.tamper = (from, _to, message) =>
      from === 2 && message._tag === "Sign.Commit"
        ? { _tag: "Sign.Refused", sessionId: message.sessionId, code }
        : message;
    cluster.sign(1, "one", "payments", data);
    cluster.pass(5_000);
    expect(codeOf(cluster, "one")).toBe("SIGNING_QUORUM_UNAVAILABLE");
    expect(membersOf(cluster, "one")).toEqual([{ peerId: 2, reason }]);
    cluster.tamper = (_from, _to, message) => message;
    cluster.sign(1, "two", "payments", data);
    cluster.pass(1_000);
    expect(isGood("two")).toBe(true);
  });
});

describe("messages of a signature", () => {
  it("that come twice and in any order sign and write nothing more", () => {
    const { cluster, isGood } = planted();
    const seen: Array<readonly [number, number, Message]> = [];
    cluster.tamper = (from, to, message) => {
      if (message._tag.startsWith("Sign.")) seen.push([from, to, message]);
      return message;
    };
    cluster.sign(1, "one", "payments", data);
    cluster.settle();
    const { length } = cluster.committed;
    const shares = seen.filter(([, , { _tag }]) => _tag === "Sign.Share").map(([, , message]) => message);
    for (const [from, to, message] of [...seen, ...seen.toReversed()]) cluster.deliver(to, from, message);
    cluster.settle();
    expect(cluster.committed.length).toBe(length);
    for (const [, , message] of seen) if (message._tag === "Sign.Share") expect(shares[0]).toEqual(message);
    expect(isGood("one")).toBe(true);
  });

  it("may be lost", () => {
    const { cluster, isGood } = planted();
    let count = 0;
    cluster.tamper = (_from, _to, message) => {
      if (!message._tag.startsWith("Sign.")) return message;
      count += 1;
      return count % 3 === 1 ? undefined : message;
    };
    cluster.sign(1, "one", "payments", data);
    cluster.pass(10_000);
    expect(isGood("one")).toBe(true);
  });
});

describe("the generation that signs", () => {
  it("is the one that a member has not applied yet, as soon as it has", () => {
    const { cluster } = planted();
    const { length } = cluster.committed;
    cluster.tamper = (_from, to, message) => (to === 3 ? undefined : whole(1, to, message));
    const rows = cluster.tables.get(2)?.get("custodyKeys")?.size;
    expect(rows).toBe(1);
    cluster.plantKey("payments", 2, 2);
    expect(cluster.committed.length).toBeGreaterThan(length);
    cluster.sign(1, "one", "payments", data);
    cluster.pass(1_000);
    expect(cluster.answers.get("one")).toMatchObject({ _tag: "Signed", generation: 2 });
  });

  it("is the one that the caller names, or none", () => {
    const { cluster } = planted();
    cluster.sign(1, "named", "payments", data, { generation: 1 });
    cluster.sign(1, "other", "payments", data, { generation: 2 });
    cluster.settle();
    expect(codeOf(cluster, "named")).toBe("Signed");
    expect(codeOf(cluster, "other")).toBe("GENERATION_NOT_FOUND");
  });
});

describe("a request that cannot be met", () => {
  it("is answered by the peer it came to", () => {
    const { cluster } = planted();
    cluster.sign(1, "unknown", "nothing", data);
    cluster.sign(1, "fields", "payments", data, { approvals: {} });
    cluster.judge = () => unprivileged;
    cluster.sign(1, "permission", "payments", data);
    cluster.settle();
    expect(codeOf(cluster, "unknown")).toBe("KEY_NOT_FOUND");
    expect(codeOf(cluster, "fields")).toBe("INVALID_REQUEST_BODY");
    expect(codeOf(cluster, "permission")).toBe("ACCESS_DENIED");
  });

  it("is refused where a peer's configuration does not let any bytes be signed", () => {
    const cluster = new KeyedCluster(3, () => ({ arbitrary: false }));
    cluster.plantKey("payments");
    cluster.sign(1, "one", "payments", data);
    cluster.settle();
    expect(codeOf(cluster, "one")).toBe("AUTHORITY_NOT_ATTACHED");
  });
});

describe("a coordinator that is sealed", () => {
  it("signs nothing for whoever asks later, and says what helps", () => {
    const { cluster } = planted();
    cluster.dispatch(1, { _tag: "Sealed" });
    cluster.sign(1, "one", "payments", data);
    expect(cluster.answers.get("one")).toMatchObject({
      rejection: {
        code: "SIGNING_QUORUM_UNAVAILABLE",
        detail: "This peer signs nothing: it is sealed.",
        hint: "Unseal it, or ask another peer.",
        members: [{ peerId: 1, reason: "it is sealed" }],
      },
    });
  });

  it("tells its callers so, and forgets every nonce", () => {
    const { cluster } = planted();
    cluster.tamper = () => undefined;
    cluster.sign(1, "one", "payments", data);
    expect(signingIn(stateOf(cluster, 1)).sessions.size).toBe(1);
    cluster.dispatch(1, { _tag: "Sealed" });
    expect(codeOf(cluster, "one")).toBe("SIGNING_QUORUM_UNAVAILABLE");
    expect(membersOf(cluster, "one")).toEqual([{ peerId: 1, reason: "it is sealed" }]);
    expect(signingIn(stateOf(cluster, 1))).toMatchObject({
      requests: new Map(),
      sessions: new Map(),
      spent: new Map(),
    });
  });
});

describe("a clock that is set", () => {
  it("ahead at one signer makes another sign", () => {
    const { cluster, isGood } = planted();
    cluster.clockOffsets.set(2, 120_000);
    cluster.sign(1, "one", "payments", data);
    cluster.pass(1_000);
    expect(isGood("one")).toBe(true);
    expect(rowsOf(cluster, "consents")).toEqual([1, 0, 1]);
  });

  it.each([
    ["ahead", 120_000, " by more than 5 s"],
    ["behind", -120_000, ": by its own the operation's deadline is over"],
  ])("%s at the coordinator stops it, and says of two which they are", (_where, offset, how) => {
    const { cluster } = planted();
    cluster.clockOffsets.set(1, offset);
    cluster.sign(1, "one", "payments", data);
    cluster.pass(10_000);
    expect(codeOf(cluster, "one")).toBe("SIGNING_QUORUM_UNAVAILABLE");
    expect(membersOf(cluster, "one")).toEqual(
      [2, 3].map((peerId) => ({ peerId, reason: `its clock and that of peer 1 differ${how}` })),
    );
  });
});
