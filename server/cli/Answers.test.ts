import { Effect, Either } from "effect";
import { describe, expect, it } from "vitest";
import { readListAnswer, readMetadataAnswer } from "./Answers.ts";

const record = (metadata: string): unknown =>
  JSON.parse(
    `{"ref":"a@sha256:0","metadata":${metadata},"metadataRevision":1,"updatedAt":0,"credential":{"type":"SIGNATURE","algorithm":"ED25519"}}`,
  );
const pairsIn = (metadata: object): ReadonlyArray<unknown> => Object.entries(metadata);

describe("the metadata of an answer", () => {
  it("has every pair, whatever its key", () => {
    const body = record('{"__proto__":"p","constructor":"c","":"e"}');
    const pairs = [
      ["__proto__", "p"],
      ["constructor", "c"],
      ["", "e"],
    ];
    expect(pairsIn(Effect.runSync(readMetadataAnswer(body)).metadata)).toEqual(pairs);
    const { items } = Effect.runSync(readListAnswer({ items: [body], nextCursor: null }));
    expect(items.map(({ metadata }) => pairsIn(metadata))).toEqual([pairs]);
  });

  it.each(["null", "[]", '"a"', '{"a":1}', '{"a":null}', '{"__proto__":{}}'])("is not %s", (metadata) => {
    expect(Either.isLeft(Effect.runSync(Effect.either(readMetadataAnswer(record(metadata)))))).toBe(true);
  });
});
