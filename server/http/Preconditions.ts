/** Conditional requests on an approver's record, which has a strong entity tag (RFC 9110 8.8.3, 13). */
import type { IncomingHttpHeaders } from "node:http";
import { Either } from "effect";
import { type HttpFault, httpFault } from "./HttpErrors.ts";

interface EntityTag {
  readonly isWeak: boolean;
  /** With its quotes. */
  readonly opaque: string;
}

/** What a header names: any representation, or those of a list, which may be empty. */
type Named = "any" | ReadonlyArray<EntityTag>;

/** One element of a list, which may be empty (RFC 9110 5.6.1.2), and what ends it; a tag may hold commas. */
const element = /[\t ]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[\t ]*)?(,|$)/y;

/** The tags of a list; undefined for what is none. */
const listIn = (value: string): ReadonlyArray<EntityTag> | undefined => {
  const tags: Array<EntityTag> = [];
  const next = new RegExp(element);
  for (;;) {
    const found = next.exec(value);
    if (found === null) return undefined;
    const [, weak, opaque, end] = found;
    if (opaque !== undefined) tags.push({ isWeak: weak !== undefined, opaque });
    if (end === "") return tags;
  }
};

const malformed = (name: string): HttpFault =>
  httpFault(
    "BAD_REQUEST",
    `${name} is neither * nor a list of entity tags.`,
    "Send an ETag as it came, quotes included (RFC 9110 8.8.3).",
  );

const parsed = (name: string, value: string): Either.Either<Named, HttpFault> =>
  value.trim() === "*" ? Either.right("any") : Either.fromNullable(listIn(value), () => malformed(name));

/** RFC 9110 8.8.3.2; `tag` is strong. */
const holds = (named: Named, tag: string, comparison: "strong" | "weak"): boolean =>
  named === "any" || named.some(({ isWeak, opaque }) => opaque === tag && (comparison === "weak" || !isWeak));

const changed = httpFault(
  "PRECONDITION_FAILED",
  "The current ETag is none of those in If-Match.",
  "Read it without If-Match.",
);

/**
 * Judges the read of a record that is there, in the order of RFC 9110 13.2.2. There is no modification date, so
 * conditions on one do not count (13.1.3, 13.1.4).
 *
 * @param tag the record's own entity tag
 * @returns whether the caller has it already (304); 412 for an If-Match without it; 400 for a malformed header
 */
export const isKnown = (headers: IncomingHttpHeaders, tag: string): Either.Either<boolean, HttpFault> => {
  const { "if-match": ifMatch, "if-none-match": ifNoneMatch } = headers;
  if (ifMatch === undefined && ifNoneMatch === undefined) return Either.right(false);
  return Either.gen(function* () {
    if (ifMatch !== undefined && !holds(yield* parsed("If-Match", ifMatch), tag, "strong"))
      return yield* Either.left(changed);
    return ifNoneMatch !== undefined && holds(yield* parsed("If-None-Match", ifNoneMatch), tag, "weak");
  });
};

const contradiction = httpFault(
  "PRECONDITION_FAILED",
  "If-None-Match excludes the revision that If-Match asks for.",
  "Send If-Match alone.",
);

/**
 * Judges If-None-Match of a change that is made only where `tag` is the current entity tag.
 *
 * @returns 412 where it excludes that very tag (RFC 9110 13.1.2), 400 where it is malformed
 */
export const notExcluded = (headers: IncomingHttpHeaders, tag: string): Either.Either<void, HttpFault> =>
  Either.gen(function* () {
    const { "if-none-match": ifNoneMatch } = headers;
    if (ifNoneMatch !== undefined && holds(yield* parsed("If-None-Match", ifNoneMatch), tag, "weak"))
      return yield* Either.left(contradiction);
  });
