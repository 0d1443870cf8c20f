import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { codeOf } from "../../../properties/cluster/Cluster.ts";
import { KeyedCluster } from "../../../properties/cluster/PlantedKeys.ts";
import type { Message } from "../../Message.ts";
import { generationKey } from "../keys/Tables.ts";

const data = utf8ToBytes("pay 5");

type Lie = (from: number, to: number, message: Message) => ReadonlyArray<Message>;

interface Way {
  readonly total?: number;
  /** How long messages of each member take, in milliseconds; one by default. */
  readonly millis?: { readonly [peerId: number]: number };
  /** What arrives of a message. */
  readonly lie?: Lie;
}

/** A cluster whose members are not equally near, and what is said in it. */
const apart = ({ total = 3, millis = {}, lie = (_from, _to, message) => [message] }: Way) => {
  const cluster = new KeyedCluster(total);
  cluster.plantKey("payments");
  const wire: Array<{ at: number; from: number; to: number; message: Message }> = [];
  const said: Array<string> = [];
  cluster.tamper = (from, to, original) => {
    for (const message of lie(from, to, original)) {
      if (message._tag.startsWith("Sign.")) said.push(`${from}>${to} ${message._tag.slice("Sign.".length)}`);
      wire.push({ at: cluster.now + (millis[from] ?? 1), from, to, message });
    }
    return undefined;
  };
  const pass = (millis: number): void => {
    for (let passed = 0; passed < millis; passed++) {
      cluster.pass(1);
      for (const each of wire.filter(({ at }) => at <= cluster.now)) {
        wire.splice(wire.indexOf(each), 1);
        cluster.deliver(each.to, each.from, each.message);
      }
    }
  };
  /** How the request of this name is answered, after how many milliseconds. */
  const sign = (requestId: string) => {
    said.length = 0;
    cluster.sign(1, requestId, "payments", data);
    let passed = 0;
    for (; passed < 10_000 && codeOf(cluster, requestId) === undefined; passed++) pass(1);
    const answer = cluster.answers.get(requestId);
    return { code: codeOf(cluster, requestId), passed, answer, said: [...said] };
  };
  return { cluster, sign, pass };
};

/** These members commit and refuse every package. */
const refusing =
  (members: ReadonlyArray<number>, code = "NO"): Lie =>
  (from, _to, message) =>
    message._tag === "Sign.Share" && members.includes(from)
      ? message.items.map(({ sessionId }) => ({ _tag: "Sign.Refused", sessionId, code }))
      : [message];

const NEARER = { 2: 3, 3: 8 };

describe("a member that commits at once and refuses every package", () => {
  it.each(["NO", "SESSION_UNKNOWN", "ACCESS_DENIED"])("with %s costs one attempt in ten seconds", (code) => {
    const { cluster, sign } = apart({ millis: NEARER, lie: refusing([2], code) });
    const packages = ["one", "two", "three"].map((requestId) => {
      const signed = sign(requestId);
      expect(signed.code).toBe("Signed");
      return signed.said.filter((each) => each === "1>2 Package").length;
    });
    expect(packages).toEqual([1, 0, 0]);
    cluster.pass(10_000);
    expect(sign("later")).toMatchObject({ code: "Signed" });
  });

  it("is not chosen again because the others take longer", () => {
    const { sign } = apart({ millis: { 2: 3, 3: 400 }, lie: refusing([2]) });
    const { code, said } = sign("one");
    expect(code).toBe("Signed");
    expect(said.filter((each) => each.startsWith("1>2"))).toEqual(["1>2 Open", "1>2 Package", "1>2 Open"]);
  });

  it("is named, and nobody who was not asked", () => {
    const { sign } = apart({ total: 5, lie: refusing([2, 3, 4]) });
    const { answer } = sign("one");
    expect(answer).toMatchObject({
      _tag: "Rejected",
      rejection: {
        code: "SIGNING_QUORUM_UNAVAILABLE",
        members: [2, 3, 4].map((peerId) => ({ peerId, reason: "it refuses" })),
      },
    });
    expect(sign("two").code).toBe("Signed");
  });
});

describe("a member that commits and then says nothing", () => {
  it("is not chosen again because the others take longer", () => {
    const silent: Lie = (from, _to, message) => (from === 2 && message._tag === "Sign.Share" ? [] : [message]);
    const { sign } = apart({ millis: { 2: 3, 3: 400 }, lie: silent });
    expect(sign("one").code).toBe("Signed");
    const { code, passed } = sign("two");
    expect(code).toBe("Signed");
    expect(passed).toBeLessThan(1_000);
  });
});

describe("a member whose share waits at a coordinator that was held up", () => {
  it("is not taken for silent by the timer that waits before it", () => {
    const cluster = new KeyedCluster(3);
    cluster.plantKey("payments");
    const shares: Array<{ readonly from: number; readonly message: Message }> = [];
    const opened: Array<number> = [];
    cluster.tamper = (from, to, message) => {
      if (message._tag === "Sign.Open") opened.push(to);
      if (message._tag !== "Sign.Share") return message;
      shares.push({ from, message });
      return undefined;
    };
    cluster.sign(1, "one", "payments", data);
    cluster.settle();
    // A flush took four seconds.
    cluster.now += 4_000;
    cluster.peers.get(1)?.dispatch({ _tag: "TimerFired", timer: "Sign.attempts" });
    for (const { from, message } of shares) cluster.deliver(1, from, message);
    cluster.settle();
    expect(codeOf(cluster, "one")).toBe("Signed");
    expect(opened).toHaveLength(1);
  });
});

describe("a member that signs for all callers but one", () => {
  it("costs that one an attempt in ten seconds, not each of its signatures", () => {
    const victims = new Set<string>();
    let isVictim = false;
    const { cluster, sign, pass } = apart({
      millis: NEARER,
      lie: (from, to, message) => {
        if (message._tag === "Sign.Open" && to === 2 && isVictim) victims.add(message.sessionId);
        const withheld = (sessionId: string): boolean => from === 2 && victims.has(sessionId);
        return message._tag === "Sign.Share" && message.items.some((each) => withheld(each.sessionId)) ? [] : [message];
      },
    });
    // By now it is known who answers sooner.
    for (const requestId of ["one", "two"]) expect(sign(requestId).code).toBe("Signed");
    isVictim = true;
    cluster.sign(1, "first", "payments", data);
    isVictim = false;
    // Each time it is found out, last after three seconds, its share of what was asked just before comes just after.
    for (const [at, millis] of [518, 500, 500, 500, 500, 500].entries()) {
      pass(millis);
      cluster.sign(1, `other ${at}`, "payments", data);
    }
    pass(100);
    expect([codeOf(cluster, "first"), codeOf(cluster, "other 5")]).toEqual(["Signed", "Signed"]);
    isVictim = true;
    const { code, passed } = sign("second");
    expect(code).toBe("Signed");
    expect(passed).toBeLessThan(100);
  });
});

describe("an honest member that was restarted after it committed", () => {
  it("signs the same request, with only as many up as it takes, and the next ones at once", () => {
    let hasRestarted = false;
    const { cluster, sign } = apart({
      lie: (_from, to, message) => {
        if (message._tag === "Sign.Package" && !hasRestarted) {
          hasRestarted = true;
          cluster.start(to);
        }
        return [message];
      },
    });
    cluster.peers.delete(3);
    const { code, passed, said } = sign("one");
    expect(code).toBe("Signed");
    expect(said.filter((each) => each.startsWith("2>1"))).toEqual([
      "2>1 Commit",
      "2>1 Refused",
      "2>1 Commit",
      "2>1 Share",
    ]);
    expect(passed).toBeLessThan(1_500);
    expect(sign("two").passed).toBeLessThan(100);
  });
});

describe("a member that does not know its own mind", () => {
  const refused = (message: Message): ReadonlyArray<Message> =>
    message._tag === "Sign.Commit" ? [{ _tag: "Sign.Refused", sessionId: message.sessionId, code: "NO" }] : [];

  it.each([
    ["refuses what it has committed to", (message: Message) => [message, ...refused(message)]],
    ["commits to what it has refused", (message: Message) => [...refused(message), message]],
  ])("%s: another signs", (_what, both) => {
    const { cluster, sign } = apart({
      total: 5,
      millis: { 3: 8 },
      lie: (from, _to, message) => (from === 2 ? both(message) : [message]),
    });
    // So that two others have to.
    cluster.write(1, [{ op: "remove", table: "shares", key: generationKey("payments", 1) }]);
    const { code, said } = sign("one");
    expect(code).toBe("Signed");
    expect(said.filter((each) => each.endsWith("Package"))).toEqual(["1>4 Package", "1>3 Package"]);
  });
});

describe("a member that lacks the generation for a moment", () => {
  it("is asked again until it has it, where no other can sign instead", () => {
    let lacksUntil = 0;
    const { cluster, sign } = apart({
      total: 2,
      lie: (from, _to, message) =>
        from === 2 && message._tag === "Sign.Commit" && cluster.now < lacksUntil
          ? [{ _tag: "Sign.Refused", sessionId: message.sessionId, code: "GENERATION_BEHIND" }]
          : [message],
    });
    lacksUntil = cluster.now + 1_300;
    expect(sign("one").code).toBe("Signed");
    lacksUntil = cluster.now + 10_000;
    const { code, passed } = sign("two");
    expect(code).toBe("SIGNING_QUORUM_UNAVAILABLE");
    expect(passed).toBeLessThan(2_000);
  });
});

describe("a member that was told to sign a moment before the attempt is over", () => {
  /** The only other one: it commits so many milliseconds after the first question, and signs 100 ms after the package. */
  const late = (commitsAt: number) => {
    const millis: Record<number, number> = {};
    let [isLate, signs] = [true, true];
    const { cluster, sign } = apart({
      millis,
      lie: (from, _to, message) => {
        if (from !== 2) return [message];
        const isShare = message._tag === "Sign.Share";
        millis[2] = !isLate ? 1 : isShare ? 100 : Math.max(1, first + commitsAt - cluster.now);
        return isShare && !signs ? [] : [message];
      },
    });
    cluster.peers.delete(3);
    const first = cluster.now;
    const recover = () => ([isLate, signs] = [false, true]);
    return { sign, recover, withholds: () => (signs = false) };
  };

  it("has time to sign it", () => {
    const { code, said } = late(2_990).sign("one");
    expect(code).toBe("Signed");
    expect(said.filter((each) => each.endsWith("Package"))).toEqual(["1>2 Package"]);
  });

  it("is not taken for one that withholds its share when the caller waits no longer", () => {
    const { sign, recover, withholds } = late(8_900);
    withholds();
    expect(sign("one").code).toBe("SIGNING_QUORUM_UNAVAILABLE");
    recover();
    expect(sign("two")).toMatchObject({ code: "Signed", said: ["1>2 Open", "2>1 Commit", "1>2 Package", "2>1 Share"] });
  });
});
