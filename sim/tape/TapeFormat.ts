/**
 * Tapes as CBOR. A tape that is read has to equal what would be written of it, within bounds, and is refused by the
 * name of the field; it says its version, and every version can be read. Nothing is bounded while the library reads,
 * except the size of file, list and map: open tapes of people you know.
 */
import { Encoder, setSizeLimits } from "cbor-x";
import { Either, ParseResult, Schema } from "effect";
import { sameBytes } from "../../core/codec/Bytes.ts";
import { modes } from "../base/Plan.ts";
import { plantedBugs } from "../bugs/PlantedBugs.ts";
import { scheduleNames } from "../schedules/Schedules.ts";
import { tiers } from "../base/Tier.ts";
import type { Tape, TapeDraw, TapeUnit } from "./Tape.ts";

/** Bytes of a whole tape: some fifty times what a usual run takes. */
export const MOST_TAPE_BYTES = 64 * 1024 * 1024;
const MOST_UNITS = 2_000_000;
const MOST_DRAWS = 1_024;
const MOST_TEXT = 1_024;
const MOST_FIELDS = 256;

const text = Schema.String.pipe(Schema.maxLength(MOST_TEXT));
const whole = Schema.Number.pipe(Schema.int(), Schema.between(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER));
const from = (least: number, most: number) => whole.pipe(Schema.between(least, most));
const fields = <A, I>(value: Schema.Schema<A, I>) =>
  Schema.Record({ key: text, value }).pipe(
    Schema.filter((record) => Object.keys(record).length <= MOST_FIELDS || `at most ${MOST_FIELDS} fields`),
  );

/** `["lost", true]`, `["what", "crash"]` or, within bounds, `["takes", [0, 3000000], 600]`. */
const draw = Schema.Union(
  Schema.Tuple(text, Schema.Union(Schema.Boolean, text)),
  Schema.Tuple(text, Schema.Tuple(whole, whole), whole).pipe(
    Schema.filter(([, [floor, ceiling], value]) => (value >= floor && value <= ceiling) || "a value within its bounds"),
  ),
);

const unit = Schema.Struct({
  unit: text,
  number: from(1, Number.MAX_SAFE_INTEGER),
  draws: Schema.Array(draw).pipe(Schema.minItems(1), Schema.maxItems(MOST_DRAWS)),
});

const fileSchema = Schema.Struct({
  version: Schema.Literal(1),
  kind: Schema.Literal("full", "sparse"),
  commit: text,
  options: Schema.Struct({
    seed: from(0, 2 ** 48),
    schedule: Schema.Literal(...scheduleNames),
    peers: from(1, 32),
    mode: Schema.Literal(...modes),
    steps: from(1, 1_000_000_000),
    crypto: Schema.Literal(...tiers),
    callers: from(0, 1_000),
    bug: Schema.NullOr(Schema.Literal(...plantedBugs.map(({ name }) => name))),
  }),
  plan: fields(Schema.Union(whole, text, Schema.Boolean, fields(Schema.Union(whole, Schema.Boolean)))),
  units: Schema.Array(unit).pipe(Schema.maxItems(MOST_UNITS)),
  end: Schema.Struct({
    hash: Schema.String.pipe(Schema.pattern(/^[0-9a-f]{16}$/)),
    events: from(0, Number.MAX_SAFE_INTEGER),
    violation: Schema.NullOr(Schema.Struct({ id: text, facts: Schema.Tuple(Schema.String, Schema.String) })),
  }),
});
type File = typeof fileSchema.Type;

/** The content of a file, in the newest version. */
export type TapeForm = (item: unknown) => Either.Either<File, ParseResult.ParseError>;

/** How files are read, from version 1 on. The newest version is written. */
export const tapeForms: ReadonlyArray<TapeForm> = [
  Schema.decodeUnknownEither(fileSchema, { onExcessProperty: "error" }),
];

const fieldOf = (item: unknown, name: string): unknown =>
  typeof item === "object" && item !== null ? Reflect.get(item, name) : undefined;

/** How a file is read, by the version that it says; one without a version that makes sense is refused. */
const formOf = (item: unknown, forms: ReadonlyArray<TapeForm>): Either.Either<TapeForm, string> => {
  const version = fieldOf(item, "version");
  const isNewer = typeof version === "number" && version > forms.length;
  return Either.fromNullable(isNewer ? undefined : (forms[Number(version) - 1] ?? forms[0]), () => {
    const commit = String(fieldOf(item, "commit"));
    return `field "version": it is ${String(version)}, and this program reads up to ${forms.length}; commit ${commit} wrote it`;
  });
};

const drawOf = ([label, second, third]: File["units"][number]["draws"][number]): TapeDraw =>
  typeof second === "object" && third !== undefined
    ? { label, bounds: second, value: third }
    : { label, bounds: undefined, value: typeof second === "object" ? 0 : second };

const tapeOfFile = ({ kind, commit, options, plan, units, end }: File): Tape => ({
  sparse: kind === "sparse",
  commit,
  options: {
    seed: options.seed,
    schedule: options.schedule,
    peers: options.peers,
    mode: options.mode,
    steps: options.steps,
    crypto: options.crypto,
    callers: options.callers,
    bug: options.bug ?? undefined,
  },
  plan,
  units: units.map((each): TapeUnit => ({ stream: each.unit, ordinal: each.number, draws: each.draws.map(drawOf) })),
  end: { ...end, violation: end.violation ?? undefined },
});

const twice = (units: File["units"]): string | undefined => {
  const seen = new Set<string>();
  for (const { unit, number } of units) {
    const name = `${unit} #${number}`;
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
};

/** Plain maps, as any other reader of CBOR knows them. */
const cbor = new Encoder({ useRecords: false, variableMapSize: true });
setSizeLimits({ maxArraySize: MOST_UNITS, maxMapSize: MOST_FIELDS, maxObjectSize: MOST_FIELDS });

/** The one item that the bytes are, as this file writes it: no key twice, nothing behind it. */
const parsedCbor = (bytes: Uint8Array): Either.Either<unknown, string> =>
  Either.try((): unknown => cbor.decode(bytes)).pipe(
    Either.filterOrLeft(
      (item) => sameBytes(cbor.encode(item), bytes),
      () => undefined,
    ),
    Either.mapLeft(() => "it is not in the CBOR that tapes are written in"),
  );

const faultIn = (error: ParseResult.ParseError): string => {
  const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error);
  const field = issue?.path.map(String).join(".") ?? "";
  return `${field === "" ? "the tape" : `field "${field}"`}: ${issue?.message ?? "it does not fit"}`;
};

/** Reads a tape; the left side names the field that is wrong, and what is expected there. */
export const parseTape = (bytes: Uint8Array, forms = tapeForms): Either.Either<Tape, string> =>
  Either.gen(function* () {
    if (bytes.length > MOST_TAPE_BYTES) return yield* Either.left(`it has more than ${MOST_TAPE_BYTES} bytes`);
    const item = yield* parsedCbor(bytes);
    const form = yield* formOf(item, forms);
    const file = yield* Either.mapLeft(form(item), faultIn);
    const doubled = twice(file.units);
    if (doubled !== undefined) return yield* Either.left(`field "units": "${doubled}" is there twice`);
    return tapeOfFile(file);
  });

const drawItem = ({ label, bounds, value }: TapeDraw) =>
  bounds === undefined ? [label, value] : [label, bounds, value];

/** A tape as {@link parseTape} reads it. */
export const formatTape = ({ sparse, commit, options, plan, units, end }: Tape): Uint8Array =>
  cbor.encode({
    version: tapeForms.length,
    kind: sparse ? "sparse" : "full",
    commit,
    options: { ...options, bug: options.bug ?? null },
    plan,
    units: units.map(({ stream, ordinal, draws }) => ({ unit: stream, number: ordinal, draws: draws.map(drawItem) })),
    end: { ...end, violation: end.violation ?? null },
  });
