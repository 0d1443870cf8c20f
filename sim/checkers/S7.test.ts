import { describe, expect, it } from "vitest";
import type { Message } from "../../core/Message.ts";
import { type Rows } from "../../core/Tables.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import { actor, type Cluster, crypto, founded } from "../../properties/cluster/Cluster.ts";
import { comeBackOn, copyOf, declare, register, stateOf } from "../../properties/cluster/Restoring.ts";
import { watched } from "../../properties/cluster/Watching.ts";
import type { Watched } from "./Checker.ts";
import { Ghost, maskOf } from "./Ghost.ts";
import { effectsIn } from "../models/Effects.ts";
import { Violation } from "../base/Violation.ts";
import { S7 } from "./S7.ts";

const KEY = 7;

/** The one preparation of a peer. */
const preparedAt = (cluster: Cluster, peerId: number): Rows["preparations"] => {
  const [id = ""] = stateOf(cluster, peerId).undecided.preparations.keys();
  const row = cluster.row(peerId, "preparations", id);
  if (row === undefined) throw new Error("it has prepared nothing");
  return row;
};

/**
 * The writer reserves a key for alice, whose `Prepare` is late; it comes back on the disk it had before, unknown to
 * all, and reserves the key for bob with peer 2. Then the late one reaches peer 3.
 */
const twiceReserved = (): Cluster => {
  const cluster = founded();
  const old = copyOf(cluster.tables.get(1));
  const late: Array<Message> = [];
  cluster.tamper = (_from, to, message) => {
    if (message._tag === "Prepare" && to === 3) late.push(message);
    return message._tag === "Prepare" ? undefined : message;
  };
  cluster.register(1, "for alice", "alice", KEY);
  cluster.settle();
  comeBackOn(cluster, 1, old, false);
  cluster.pass(500);
  cluster.tamper = (_from, to, message) => (message._tag === "Prepare" && to === 3 ? undefined : message);
  cluster.register(1, "for bob", "bob", KEY);
  cluster.settle();
  for (const message of late) cluster.peers.get(3)?.dispatch({ _tag: "Deliver", from: 1, message, actors: [actor] });
  return cluster;
};

const cluster = twiceReserved();
const alice = preparedAt(cluster, 3);
const bob = preparedAt(cluster, 2);

/** The state that the checker sees of peers that this test speaks for. */
class Told {
  readonly ghost = new Ghost(crypto, cluster.total);
  readonly #checker = S7(this.ghost, { keyOf: (descriptor) => descriptor });

  constructor() {
    const topology = cluster.row(1, "topology", SELF);
    if (topology === undefined) throw new Error("nothing was founded");
    this.ghost.flushed(this.#peer(1), [{ op: "insert", table: "topology", key: SELF, row: topology }]);
  }

  #peer(slot: number, honest = true): Watched {
    return watched(cluster, slot, { honest });
  }

  booted(slot: number, honest: boolean): void {
    this.#checker.booted?.(this.#peer(slot, honest));
  }

  reserved(slot: number, row: Rows["preparations"]): void {
    const write = { op: "insert", table: "preparations", key: row.own.statement.proposalId, row } as const;
    this.ghost.flushed(this.#peer(slot), [write]);
    this.#checker.written?.preparations?.(this.#peer(slot), write, [write]);
  }

  stored(slot: number, row: Rows["approvers"]): void {
    const write = { op: "insert", table: "approvers", key: row.ref, row } as const;
    this.ghost.flushed(this.#peer(slot), [write]);
    this.#checker.written?.approvers?.(this.#peer(slot), write, [write]);
  }

  restored(slot: number, row: Rows["restore"]): void {
    const write = { op: "insert", table: "restore", key: SELF, row } as const;
    this.ghost.flushed(this.#peer(slot, false), [write]);
    this.#checker.written?.restore?.(this.#peer(slot, false), write, [write]);
  }
}

describe("what a peer has reserved", () => {
  it("binds the others as long as the peer is started again on its own disk", () => {
    const told = new Told();
    told.reserved(1, alice);
    told.booted(1, true);
    expect(() => told.reserved(2, bob)).toThrow(Violation);
  });

  it("binds nobody any more when it has come back on an old disk", () => {
    const told = new Told();
    told.reserved(1, alice);
    told.booted(1, false);
    expect(() => told.reserved(2, bob)).not.toThrow();
    expect(() => told.reserved(3, alice)).toThrow(Violation);
  });
});

describe("a writer that forgot what it had said, unknown to all", () => {
  it("may have a key reserved for one id here and for another there", () => {
    const [ofAlice, ofBob] = [effectsIn(alice.proposal), effectsIn(bob.proposal)];
    expect(ofAlice).toMatchObject({ id: "alice", keyIdentity: ofBob.keyIdentity });
    expect(ofBob.id).toBe("bob");
    const told = new Told();
    told.ghost.forgetful |= maskOf(1);
    told.reserved(2, bob);
    expect(() => told.reserved(3, alice)).not.toThrow();
  });
});

describe("a key that was stored", () => {
  const { ref, approver, restore } = storedOnce();

  it("is not stored for another id, whoever has forgotten what", () => {
    const told = new Told();
    told.ghost.forgetful |= maskOf(1);
    told.stored(1, approver);
    told.stored(2, approver);
    told.restored(2, restore);
    expect(() => told.stored(3, { ...approver, ref: `${ref}-too`, id: "bob" })).toThrow(Violation);
  });

  it("may have another owner when only incarnations that are over had it", () => {
    const told = new Told();
    told.stored(2, approver);
    told.restored(2, restore);
    expect(() => told.stored(3, { ...approver, ref: `${ref}-too`, id: "bob" })).not.toThrow();
  });
});

/** An approver as it is stored, and how a peer writes down that it was restored. */
function storedOnce() {
  const whole = founded();
  register(whole, "alice", KEY);
  const [ref = ""] = whole.tables.get(1)?.get("approvers")?.keys() ?? [];
  const approver = whole.row(1, "approvers", ref);
  declare(whole, 2);
  const restore = whole.row(2, "restore", SELF);
  if (approver === undefined || restore === undefined) throw new Error("nothing was stored, or nobody restored");
  return { ref, approver, restore: { ...restore, recovering: true } };
}
