/** Who may be told that a key has no such generation. */
import { expect, it } from "vitest";
import type { Answer } from "../../core/Action.ts";
import { rejection, type RejectionCode } from "../../core/base/Rejection.ts";
import { crypto } from "../../properties/cluster/Cluster.ts";
import { create, keyed, renew } from "../../properties/cluster/Keyed.ts";
import { watched } from "../../properties/cluster/Watching.ts";
import { mapView } from "../disks/MapView.ts";
import type { Asked } from "../requests/Asked.ts";
import { Ghost } from "./Ghost.ts";
import { K20 } from "./K20.ts";
import { generationKey } from "./KeyFacts.ts";

/** One caller is told at ten seconds that the key has a second generation. */
const TOLD = 10;
const cluster = keyed();
create(cluster, 1, "made");
cluster.pass(3_000);
renew(cluster, 1, "rotated", "rotate", 1);
cluster.pass(3_000);
const made = cluster.answers.get("rotated");
if (made?._tag !== "KeyMade") throw new Error("the key was to be rotated");

const denied = (code: RejectionCode): Answer => ({ _tag: "Rejected", rejection: rejection(code, "No.", "Ask.") });

interface Question {
  readonly kind?: "SIGN" | "DESTROY" | "KEYREAD";
  readonly generation?: number | undefined;
  readonly askedAt?: number;
  readonly answer?: Answer;
  /** Generations on the disk of the peer that answers. */
  readonly has?: ReadonlyArray<number>;
  readonly lying?: number;
  /** Slots that are declared restored before that; then the generation is made anew. */
  readonly restored?: ReadonlyArray<number>;
}

/** Another asks peer 3 about a generation, at so many seconds. */
const answered = (question: Question) => (): void => {
  const { kind = "SIGN", askedAt = TOLD + 1, answer = denied("GENERATION_NOT_FOUND"), has = [1, 2] } = question;
  const ghost = new Ghost(crypto, cluster.total);
  ghost.lying = question.lying ?? 0;
  const checker = K20(ghost);
  const rows = has.map((each) => [generationKey("k1", each), made.generation] as const);
  const store = mapView(new Map([["generations", new Map(rows)]]));
  const reply = (requestId: string, at: number, asked: object, said: Answer) => ({
    requestId,
    answer: said,
    asked: { keyId: "k1", ...asked } as unknown as Asked,
    askedAt: at * 1_000_000,
    undisturbedSince: undefined,
    repliedAt: at * 1_000_000,
  });
  const making = { op: "insert", table: "generations", key: generationKey("k1", 2), row: made.generation } as const;
  for (const slot of [1, 2, 3]) ghost.keys.flushed(slot, [making]);
  checker.replied?.(watched(cluster, 1), reply("rotated", TOLD, { kind: "KEYGEN", act: "rotate", base: 1 }, made));
  for (const slot of question.restored ?? []) ghost.keys.beganAnew(slot);
  ghost.keys.flushed(3, [making]);
  const generation = "generation" in question ? question.generation : 2;
  checker.replied?.(watched(cluster, 3, { store }), reply("asked", askedAt, { kind, base: 2, generation }, answer));
};

it("is nobody who asks for one that somebody was told of, where the peer has it", () => {
  for (const kind of ["SIGN", "DESTROY"] as const)
    expect(answered({ kind })).toThrow("was told there that there is no such one");
});

it("is nobody who names none", () => {
  expect(answered({ generation: undefined })).toThrow("names no generation");
});

it("is whoever asks for one that nobody was told of, or before that, or where the peer has none", () => {
  expect(answered({ generation: 3, has: [1, 2, 3] })).not.toThrow();
  expect(answered({ askedAt: TOLD })).not.toThrow();
  expect(answered({ has: [1] })).not.toThrow();
  expect(answered({ lying: 2 })).not.toThrow();
});

it("says nothing of other answers and requests", () => {
  expect(answered({ answer: denied("GENERATION_MOVED") })).not.toThrow();
  expect(answered({ kind: "KEYREAD" })).not.toThrow();
});

it("is not whoever was told of one that went with all disks, and was made anew", () => {
  expect(answered({ restored: [1, 2, 3] })).not.toThrow();
  expect(answered({ restored: [1, 2] })).toThrow("was told there that there is no such one");
});
