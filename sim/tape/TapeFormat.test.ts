import { decode, Encoder } from "cbor-x";
import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { utf8Bytes } from "../../core/codec/Utf8.ts";
import type { Tape } from "./Tape.ts";
import { formatTape, parseTape, type TapeForm, tapeForms } from "./TapeFormat.ts";

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

const parse = (bytes: Uint8Array) => parseTape(bytes);
const cbor = new Encoder({ useRecords: false, variableMapSize: true });
/** The tape with one of its fields changed; the path is made of names and places. */
const changed = (path: ReadonlyArray<string | number>, value: unknown): Uint8Array => {
  const root: unknown = decode(formatTape(tape));
  let at: unknown = root;
  for (const step of path.slice(0, -1)) at = Reflect.get(Object(at), step);
  Reflect.set(Object(at), path.at(-1) ?? "", value);
  return cbor.encode(root);
};

describe("a tape as CBOR", () => {
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
    ["a version before the first", ["version"], 0, "version"],
    ["a version that is no number", ["version"], "1", "version"],
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

  it("of another version is read as the newest, and refused with its commit only where nobody knows it yet", () => {
    const [first] = tapeForms;
    if (first === undefined) throw new Error("there is a form");
    // The next version has one more field, which the first one lacked.
    const next: TapeForm = (item) => {
      const { mood, ...others } = { mood: undefined, ...Object(item) };
      return first({ ...others, version: mood === "fine" ? 1 : "no mood" });
    };
    const newer = cbor.encode({ ...Object(decode(changed(["version"], 2))), mood: "fine" });
    expect(Either.getOrThrow(parseTape(newer, [first, next]))).toEqual(tape);
    expect(Either.getOrThrow(parseTape(formatTape(tape), [first, next]))).toEqual(tape);
    expect(Either.isLeft(parseTape(changed(["version"], 2), [first, next]))).toBe(true);
    expect(parse(newer)).toEqual(
      Either.left('field "version": it is 2, and this program reads up to 1; commit 0123456789ab wrote it'),
    );
  });

  it("may have values at both of their bounds, and as many draws as there may be", () => {
    expect(Either.isRight(parse(changed(["units", 0, "draws", 1, 2], 3_000_000)))).toBe(true);
    const most = Array.from({ length: 1_024 }, () => ["lost", true]);
    expect(Either.isRight(parse(changed(["units", 0, "draws"], most)))).toBe(true);
  });

  it("is refused where a unit is there twice", () => {
    const { units } = tape;
    const doubled = formatTape({ ...tape, units: [...units, ...units.slice(0, 1)] });
    expect(Either.getOrThrow(Either.flip(parse(doubled)))).toBe('field "units": "link 1>2 #17" is there twice');
  });

  it("is refused where its bytes are not those that are written of it", () => {
    const bytes = formatTape(tape);
    const version = [...utf8Bytes("gversion"), 1].map((byte, at) => (at === 0 ? 0x67 : byte));
    // A map of seven fields with the first of them twice, a longer head, a byte behind the end, half of it.
    const twice = Uint8Array.from([0xa8, ...version, ...bytes.subarray(1)]);
    const longHead = Uint8Array.from([0xb8, 7, ...bytes.subarray(1)]);
    expect(bytes[0]).toBe(0xa7);
    const others = [
      twice,
      longHead,
      [...bytes, 0],
      bytes.subarray(0, bytes.length / 2),
      [],
      [0x9b, ...Array(8).fill(0xff)],
    ];
    for (const each of others)
      expect(Either.getOrThrow(Either.flip(parse(Uint8Array.from(each))))).toBe(
        "it is not in the CBOR that tapes are written in",
      );
    for (const json of ["", "[]", "{}"])
      expect(Either.getOrThrow(Either.flip(parse(utf8Bytes(json))))).toContain("it is not in the CBOR");
    expect(Either.getOrThrow(Either.flip(parse(Uint8Array.of(0x80))))).toContain("the tape");
    const deep = new Uint8Array(1_000_000).fill(0x81);
    expect(Either.isLeft(parse(deep))).toBe(true);
  });
});
