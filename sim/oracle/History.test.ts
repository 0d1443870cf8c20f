import { beforeEach, describe, expect, it } from "vitest";
import type { Meaning } from "../models/Meaning.ts";
import { type Ending, History } from "./History.ts";

const KEY = "a key";
const register = (id: string, metadata: string): Meaning => ({
  kind: "register",
  key: KEY,
  id,
  metadata,
  base: undefined,
});
const replace = (base: number, metadata: string): Meaning => ({
  kind: "replace",
  key: KEY,
  id: "alice",
  metadata,
  base,
});
const record = (metadata: string, revision = 1, id = "alice") => ({ id, metadata, revision });
const created = (metadata: string, id?: string): Ending => ({
  _tag: "done",
  created: true,
  seen: record(metadata, 1, id),
});
const found = (metadata: string, revision = 1): Ending => ({
  _tag: "done",
  created: false,
  seen: record(metadata, revision),
});

describe("a history", () => {
  let history: History;

  beforeEach(() => {
    history = new History();
    history.asked("first", 10, register("alice", "red"));
  });

  const end = (name: string, at: number, ending: Ending) => () => history.ended(name, at, ending);
  const read = (peer: number, at: number, seen: ReturnType<typeof record> | undefined) => () =>
    history.read(peer, at, KEY, seen);

  it("takes what a naive registry could have done", () => {
    history.asked("retry", 12, register("alice", "blue"));
    history.asked("other", 13, register("bob", "red"));
    expect(read(2, 14, undefined)).not.toThrow();
    expect(read(3, 15, record("red"))).not.toThrow();
    expect(read(2, 16, undefined)).not.toThrow();
    expect(end("retry", 17, found("red"))).not.toThrow();
    expect(end("other", 18, { _tag: "taken" })).not.toThrow();
    expect(end("first", 19, created("red"))).not.toThrow();
    history.asked("second", 20, replace(1, "green"));
    history.asked("racer", 20, replace(1, "white"));
    expect(end("racer", 22, { _tag: "stale" })).not.toThrow();
    expect(end("second", 23, found("green", 2))).not.toThrow();
    expect(read(2, 24, record("green", 2))).not.toThrow();
  });

  it("lets a request without an answer have happened, at any later moment or never", () => {
    expect(end("first", 20, { _tag: "open" })).not.toThrow();
    expect(read(1, 30, undefined)).not.toThrow();
    expect(read(1, 90, record("red"))).not.toThrow();
  });

  it("lets a revision that was guessed ahead be stale, although it was made before that was told", () => {
    history.ended("first", 20, created("red"));
    history.asked("guess", 21, replace(2, "white"));
    history.asked("second", 22, replace(1, "green"));
    history.ended("second", 30, found("green", 2));
    expect(end("guess", 40, { _tag: "stale" })).not.toThrow();
  });

  describe("of a peer that was restored", () => {
    beforeEach(() => {
      history.ended("first", 20, created("red"));
      history.asked("second", 21, replace(1, "green"));
      history.read(2, 25, KEY, record("green", 2));
    });

    it("lets go what only it had shown, which may be made anew", () => {
      history.restored(2);
      expect(read(2, 30, record("red"))).not.toThrow();
      history.asked("third", 31, replace(1, "blue"));
      expect(end("third", 40, found("blue", 2))).not.toThrow();
    });

    it("keeps what another peer has shown, and what was acknowledged", () => {
      history.read(3, 26, KEY, record("green", 2));
      history.restored(2);
      history.asked("third", 31, replace(1, "blue"));
      expect(end("third", 40, found("blue", 2))).toThrow(/H1.*metadata green.*with blue/u);
      expect(read(2, 41, undefined)).toThrow(/H1.*success/u);
    });
  });

  describe("is refused where", () => {
    it("a read forgets what was acknowledged before it", () => {
      history.ended("first", 20, created("red"));
      expect(read(2, 20, undefined)).not.toThrow();
      expect(read(2, 21, undefined)).toThrow(/H1.*success at 20.*peer 2 showed nothing at 21/u);
    });

    it("a peer forgets what it has shown", () => {
      history.read(2, 15, KEY, record("red"));
      expect(read(3, 16, undefined)).not.toThrow();
      expect(read(2, 16, undefined)).toThrow(/H1: peer 2 had shown revision 1/u);
    });

    it("success is told of what nobody stored", () => {
      history.ended("first", 20, { _tag: "no" });
      history.asked("retry", 30, register("alice", "blue"));
      expect(end("retry", 40, found("red"))).toThrow(/H1: no request could have made revision 1 with metadata red/u);
    });

    it("a request is done that was refused for good", () => {
      history.ended("first", 20, { _tag: "no" });
      expect(read(1, 30, record("red"))).toThrow(/H1: no request could have made/u);
    });

    it("an old revision is told of after a newer one was acknowledged", () => {
      history.ended("first", 20, created("red"));
      history.asked("second", 21, replace(1, "green"));
      history.asked("early", 22, register("alice", "red"));
      history.ended("second", 25, found("green", 2));
      expect(end("early", 26, found("red", 1))).not.toThrow();
      history.asked("late", 26, register("alice", "red"));
      expect(end("late", 30, found("red", 1))).toThrow(/H1.*of revision 2.*of revision 1/u);
      expect(read(2, 31, record("red", 1))).toThrow(/H1/u);
    });

    it("two callers are told that they created it, or one that asked when it was there", () => {
      history.asked("again", 11, register("alice", "red"));
      history.asked("late", 30, register("alice", "red"));
      history.ended("first", 20, created("red"));
      expect(end("again", 21, created("red"))).toThrow(/H1: request first was told that it had created/u);
      expect(end("late", 31, created("red"))).toThrow(/H1/u);
    });

    it("one that asked later than it was seen is told that it created it", () => {
      history.read(2, 15, KEY, record("red"));
      history.asked("late", 30, register("alice", "red"));
      expect(end("late", 31, created("red"))).toThrow(/H1: the approver was there at 15/u);
    });

    it("a key is told to have two owners", () => {
      history.ended("first", 20, created("red"));
      history.asked("other", 15, register("bob", "red"));
      expect(end("other", 30, { _tag: "done", created: false, seen: record("red", 1, "bob") })).toThrow(
        /H1.*belongs to id alice.*for id bob/u,
      );
    });

    it("a key is told to be taken that nobody else asked for, or by the caller's own id", () => {
      expect(end("first", 20, { _tag: "taken" })).toThrow(/H1: nobody else ever asked/u);
      history = new History();
      history.asked("first", 10, register("alice", "red"));
      history.asked("other", 10, register("bob", "red"));
      history.asked("again", 30, register("alice", "red"));
      history.ended("first", 20, created("red"));
      expect(end("again", 40, { _tag: "taken" })).toThrow(/H1.*belongs to id alice/u);
    });

    it("a session is told that its key is taken, by nobody or by its own id", () => {
      const session = (id: string, claims: string): Meaning => ({ ...register(id, "red"), key: "session", claims });
      history.asked("finish", 20, session("alice", KEY));
      expect(end("finish", 30, { _tag: "taken" })).toThrow(/H1: nobody else ever asked/u);
      history.asked("of bob", 20, session("bob", KEY));
      expect(end("of bob", 30, { _tag: "taken" })).not.toThrow();
      history.asked("of another key", 20, session("bob", "another key"));
      expect(end("of another key", 30, { _tag: "taken" })).toThrow(/H1: nobody else ever asked/u);
    });

    it("two metadatas are told for one revision", () => {
      history.asked("retry", 12, register("alice", "blue"));
      history.read(1, 20, KEY, record("blue"));
      expect(read(2, 21, record("red"))).toThrow(/H1.*metadata blue.*with red/u);
    });

    it("a revision is told to be stale that nobody can have replaced", () => {
      history.ended("first", 20, created("red"));
      history.asked("second", 21, replace(1, "green"));
      expect(end("second", 25, { _tag: "stale" })).toThrow(/H1: nobody else could have replaced revision 1/u);
    });

    it("a replacement skips a revision", () => {
      history.ended("first", 20, created("red"));
      history.asked("second", 21, replace(1, "green"));
      expect(end("second", 25, found("green", 3))).toThrow(/H1: request second builds on revision 1/u);
    });
  });
});
