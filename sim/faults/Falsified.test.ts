/** What a liar makes of a message: one thing is changed, its own words are signed anew, others' are not. */
import { describe, expect, it } from "vitest";
import { encode } from "../../core/codec/CborWriter.ts";
import { commands } from "../../core/commands/Commands.ts";
import type { Digest, Signature } from "../../core/base/Digest.ts";
import { type Message, messageCodec } from "../../core/Message.ts";
import { Choices } from "../base/Choices.ts";
import { falsified, type Sign } from "./Falsified.ts";
import { Hearsay } from "./Hearsay.ts";

const digest = (digit: string): Digest => digit.repeat(64) as Digest;

const asked = (name: string): Message => ({
  _tag: "StoredQuery",
  requestId: `request ${name}`,
  kind: `kind ${name}`,
  ref: `ref ${name}`,
});

const vote: Message = {
  _tag: "Votes",
  statements: [
    {
      statement: {
        version: 1,
        kind: "RECEIPT",
        proposalId: digest("1"),
        epoch: 1,
        seq: 7,
        topologyDigest: digest("2"),
        detail: "",
      },
      index: 0,
      proof: [],
      header: {
        version: 1,
        peerId: 2,
        incarnation: 1,
        batchNo: 3,
        prevBatchHash: digest("3"),
        size: 1,
        root: digest("4"),
        signedAt: 1_000,
      },
      signature: "5".repeat(128) as Signature,
    },
  ],
};

const asIs: Sign = (_before, after) => after;

/** What becomes of a message in many draws; what is no message is left out. */
const lies = (message: Message, hearsay: Hearsay, sign = asIs): ReadonlyArray<Message> => {
  const stream = new Choices(1).stream("liar");
  return Array.from({ length: 300 }, () => falsified(commands, message, stream.next(), hearsay, sign) ?? []).flat();
};

const bytesOf = (message: Message): string => encode(messageCodec, message).join();

describe("a false message", () => {
  it("differs from the true one, and its codec writes it", () => {
    const found = lies(vote, new Hearsay());
    expect(found.length).toBeGreaterThan(100);
    for (const lie of found) {
      expect(lie._tag).toBe("Votes");
      expect(bytesOf(lie)).not.toBe(bytesOf(vote));
    }
  });

  it("is wrong in each of the fields, in one at a time", () => {
    const fields = new Set(
      lies(asked("a"), new Hearsay()).map((lie) =>
        Object.entries(lie)
          .flatMap(([name, value]) =>
            Object.entries(asked("a")).some((each) => each[0] === name && each[1] === value) ? [] : [name],
          )
          .join(),
      ),
    );
    expect([...fields].toSorted()).toEqual(["kind", "ref", "requestId"]);
  });

  it("holds what was heard in the same field, and nothing of another one", () => {
    const hearsay = new Hearsay();
    hearsay.note(asked("b"));
    const found = lies(asked("a"), hearsay);
    expect(found).toContainEqual({ ...asked("a"), ref: "ref b" });
    expect(found).not.toContainEqual({ ...asked("a"), ref: "kind b" });
  });

  it("leaves out only what was absent before", () => {
    const hearsay = new Hearsay();
    const full: Message = {
      _tag: "SnapshotRequest",
      recoveryId: digest("1"),
      nonce: digest("2"),
      after: "",
      here: { upTo: "1", digest: digest("3") },
    };
    hearsay.note(full);
    expect(lies(full, hearsay).every((lie) => Object.values(lie).every((value) => value !== undefined))).toBe(true);
    const probe: Message = {
      _tag: "ReadyProbe",
      nonce: digest("1"),
      topologyDigest: digest("2"),
      configDigest: digest("3"),
      process: digest("4"),
      seen: undefined,
      restored: undefined,
      recorded: undefined,
    };
    hearsay.note({ ...probe, process: undefined });
    expect(lies(probe, hearsay)).toContainEqual({ ...probe, process: undefined });
    expect(lies(probe, hearsay)).not.toContainEqual({ ...probe, topologyDigest: undefined });
  });

  it("shows every changed record to whoever signs, the inner ones first", () => {
    const shown: Array<string> = [];
    lies(vote, new Hearsay(), (_before, after) => {
      shown.push(Object.keys(after).join());
      return after;
    });
    expect(shown).toContain("version,peerId,incarnation,batchNo,prevBatchHash,size,root,signedAt");
    const at = shown.indexOf("version,kind,proposalId,epoch,seq,topologyDigest,detail");
    expect(shown.slice(at, at + 3)).toEqual([
      "version,kind,proposalId,epoch,seq,topologyDigest,detail",
      "statement,index,proof,header,signature",
      "_tag,statements",
    ]);
  });
});
