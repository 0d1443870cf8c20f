import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { utf8Bytes } from "../../core/codec/Utf8.ts";
import type { Tape } from "./Tape.ts";
import { formatTape, parseTape } from "./TapeFormat.ts";

const tape: Tape = {
  sparse: true,
  commit: "0123456789ab",
  options: {
    seed: 7,
    schedule: "swarm",
    peers: 3,
    mode: "within",
    steps: 400,
    crypto: "fast",
    callers: 2,
    bug: "double-vote",
  },
  plan: { seed: 7, schedule: "swarm", crypto: "fast", faults: { crash: 3 } },
  units: [
    {
      stream: "link 1>2",
      ordinal: 17,
      draws: [
        { label: "lost", bounds: undefined, value: true },
        { label: "takes", bounds: [-5, 3_000_000], value: -5 },
      ],
    },
    { stream: "fault", ordinal: 4, draws: [{ label: "what", bounds: undefined, value: "crash" }] },
  ],
  end: { hash: "0123456789abcdef", events: 12, violation: { id: "S1", facts: ["one", "another"] } },
};

const parse = (text: string) => parseTape(utf8Bytes(text));
const read = (text: string): unknown => JSON.parse(text);
/** The tape with one of its fields changed, as text; the path is made of names and places. */
const changed = (path: ReadonlyArray<string | number>, value: unknown): string => {
  const root = read(formatTape(tape));
  let at: unknown = root;
  for (const step of path.slice(0, -1)) at = Reflect.get(Object(at), step);
  Reflect.set(Object(at), path.at(-1) ?? "", value);
  return JSON.stringify(root);
};

describe("a tape as JSON", () => {
  it("comes back as it was, with and without a violation and a bug", () => {
    expect(Either.getOrThrow(parse(formatTape(tape)))).toEqual(tape);
    const quiet: Tape = {
      ...tape,
      sparse: false,
      options: { ...tape.options, bug: undefined, crypto: "real" },
      units: [],
      end: { ...tape.end, violation: undefined },
    };
    expect(Either.getOrThrow(parse(formatTape(quiet)))).toEqual(quiet);
  });

  it.each([
    ["version", ["version"], 2, "version"],
    ["a kind there is not", ["kind"], "some", "kind"],
    ["a field nobody knows", ["more"], 1, "more"],
    ["a seed below 0", ["options", "seed"], -1, "options.seed"],
    ["a seed that is no whole number", ["options", "seed"], 1.5, "options.seed"],
    ["a seed above 2^48", ["options", "seed"], 2 ** 48 + 1, "options.seed"],
    ["a schedule there is not", ["options", "schedule"], "storm", "options.schedule"],
    ["no peers", ["options", "peers"], 0, "options.peers"],
    ["33 peers", ["options", "peers"], 33, "options.peers"],
    ["a bug there is not", ["options", "bug"], "none", "options.bug"],
    ["an option nobody knows", ["options", "speed"], 1, "options.speed"],
    ["unit number 0", ["units", 0, "number"], 0, "units.0.number"],
    ["a unit without draws", ["units", 0, "draws"], [], "units.0.draws"],
    ["too many draws", ["units", 0, "draws"], Array.from({ length: 1_025 }, () => ["lost", true]), "units.0.draws"],
    ["a value above its bounds", ["units", 0, "draws", 1, 2], 3_000_001, "units.0.draws.1"],
    ["a value below its bounds", ["units", 0, "draws", 1, 2], -6, "units.0.draws.1"],
    ["a hash in capitals", ["end", "hash"], "0123456789ABCDEF", "end.hash"],
    ["a plan with a list in it", ["plan", "faults"], [1], "plan.faults"],
  ])("is refused with %s, by the name of the field", (_what, path, value, field) => {
    const refusal = Either.getOrThrow(Either.flip(parse(changed(path, value))));
    expect(refusal).toContain(`field "${field}`);
  });

  it("may have values at both of their bounds, and as many draws as there may be", () => {
    expect(Either.isRight(parse(changed(["units", 0, "draws", 1, 2], 3_000_000)))).toBe(true);
    const most = Array.from({ length: 1_024 }, () => ["lost", true]);
    expect(Either.isRight(parse(changed(["units", 0, "draws"], most)))).toBe(true);
  });

  it("is refused where a unit or a member is there twice, and where it is no JSON", () => {
    const refusal = (text: string) => Either.getOrThrow(Either.flip(parse(text)));
    const { units } = tape;
    expect(refusal(formatTape({ ...tape, units: [...units, ...units.slice(0, 1)] }))).toBe(
      'field "units": "link 1>2 #17" is there twice',
    );
    expect(refusal(formatTape(tape).replace('"version": 1,', '"version": 1, "version": 1,'))).toContain(
      "it is no JSON",
    );
    expect(refusal("")).toContain("it is no JSON");
    expect(refusal("[]")).toContain("the tape");
  });
});
