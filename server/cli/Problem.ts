/** The service's refusals (RFC 9457), as far as the command line shows them. */
import { Either, Schema } from "effect";

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true });

const ProblemSchema = Schema.Struct({
  status: Schema.Number,
  code: Schema.String,
  detail: optional(Schema.String),
  hint: optional(Schema.String),
  requestId: optional(Schema.String),
  ref: optional(Schema.String),
  retryable: optional(Schema.Boolean),
  /** The mutation may still happen, or may have happened. */
  outcomeUnknown: optional(Schema.Boolean),
  errors: optional(
    Schema.Array(
      Schema.Struct({
        pointer: optional(Schema.String),
        parameter: optional(Schema.String),
        code: Schema.String,
        detail: optional(Schema.String),
      }),
    ),
  ),
  members: optional(Schema.Array(Schema.Struct({ peerId: Schema.Number, reason: optional(Schema.String) }))),
});

/** A problem document; members this version does not know are left out. */
export type Problem = typeof ProblemSchema.Type;

const decode = Schema.decodeUnknownEither(ProblemSchema);

/** Reads the body of an error; undefined when it is not a problem document of this service. */
export const parseProblem = (body: unknown): Problem | undefined => Either.getOrUndefined(decode(body));

/** The service speaks of its header; who uses the command line never sees that. */
const hintOf = ({ code, hint }: Problem): string | undefined =>
  code === "UNAUTHENTICATED" ? "Give a valid token with --token-file FILE or in CUSTODY_TOKEN." : hint;

/** The problem in lines for a person, the first one without indentation. */
export const problemLines = (problem: Problem): ReadonlyArray<string> => [
  `${problem.code} (${problem.status})${problem.detail === undefined ? "" : `: ${problem.detail}`}`,
  ...(problem.errors ?? []).map(
    ({ pointer = "", parameter, code, detail }) =>
      `  at ${parameter ?? (pointer === "" ? "the body" : pointer)}: ${code}${detail === undefined ? "" : `: ${detail}`}`,
  ),
  ...(problem.members ?? []).map(
    ({ peerId, reason }) => `  peer ${peerId}${reason === undefined ? "" : `: ${reason}`}`,
  ),
  ...(problem.ref === undefined ? [] : [`  ref: ${problem.ref}`]),
  ...(hintOf(problem) === undefined ? [] : [`  hint: ${hintOf(problem)}`]),
  ...(problem.requestId === undefined ? [] : [`  request: ${problem.requestId}`]),
];
