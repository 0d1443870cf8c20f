import { describe, expect, it } from "vitest";
import { founded } from "../../properties/cluster/Cluster.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import { Step } from "./Step.ts";
import { entryPatience, writerPatience } from "./Patience.ts";

describe("a request waits as long as its caller, less the way of an answer", () => {
  const { state, context } = openStep(founded(1), 1);

  it.each([
    [10_000, 9_500, 9_000],
    [5_000, 4_500, 4_000],
    [1_000, 900, 800],
  ])("of %i ms: %i ms where it entered and %i at the writer", (answerMillis, atEntry, atWriter) => {
    const step = new Step(state, { ...context, settings: { ...context.settings, answerMillis } });
    expect([entryPatience(step), writerPatience(step)]).toEqual([atEntry, atWriter]);
  });
});
