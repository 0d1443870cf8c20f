import { describe, expect, it } from "vitest";
import type { Answer } from "../../core/Action.ts";
import type { Meaning, Seen } from "../models/Meaning.ts";
import type { Product } from "../models/Product.ts";
import type { Meant } from "../requests/Asked.ts";
import { Witness } from "./Witness.ts";

/** A product whose requests are what they mean and whose answers are what they show. */
const product = {
  modelOf: () => ({ meaning: (asked: unknown) => asked, refusedAs: () => "no" }),
  shownIn: (answer: unknown) => ({ subject: { seen: (row: unknown) => row }, shown: answer }),
} as unknown as Product;

const registering = (id: string) =>
  ({ kind: "register", key: `key of ${id}`, id, metadata: "red" }) as Partial<Meaning> as Meant;
const shown = (id: string, created: boolean, revision = 1) =>
  ({ ref: `ref of ${id}`, created, row: { id, metadata: "red", revision } satisfies Seen }) as unknown as Answer;

const registered = (...ids: ReadonlyArray<string>): Witness => {
  const witness = new Witness(product);
  for (const [index, id] of ids.entries()) {
    witness.asked(`of ${id}`, index, registering(id));
    witness.answered(`of ${id}`, index + 1, shown(id, true), true);
  }
  return witness;
};

describe("the witness", () => {
  it("knows what is read by the name that its caller was told", () => {
    const witness = registered("alice");
    expect(() => witness.read(1, 9, "ref of alice", undefined)).toThrow("nothing");
    expect(() => witness.read(1, 9, "ref of alice", { id: "alice", metadata: "red", revision: 1 })).not.toThrow();
  });

  it("takes no other subject's name from a peer that may have asked for another change", () => {
    const witness = registered("alice", "bob");
    const replacing = { ...registering("alice"), kind: "replace", base: 1 } as unknown as Meant;
    witness.asked("lied about", 5, replacing);
    witness.forgot("lied about", shown("bob", false, 2));
    witness.asked("lied about too", 6, replacing);
    witness.forgot("lied about too", shown("carol", true));
    witness.read(1, 9, "ref of carol", { id: "carol", metadata: "red", revision: 1 });
    witness.read(1, 9, "ref of bob", { id: "bob", metadata: "red", revision: 1 });
    expect(() => witness.read(1, 9, "ref of bob", undefined)).toThrow("nothing");
  });
});
