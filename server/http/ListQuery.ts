/** The query of a list (contract 4.1.1), read as strictly as a body: every parameter once, known, and within its bounds. */
import { Either } from "effect";
import { utf8Length } from "../../core/codec/Utf8.ts";
import { type ApproverFilter, credentialTypes } from "../../core/commands/approvers/Terms.ts";
import { isApproverId } from "../../core/credential/ApproverId.ts";
import { Limits } from "../../core/base/Limits.ts";
import { type HttpFault, httpFault, type QueryFault } from "./HttpErrors.ts";

/** Items of a page, and those where none are asked for. */
export const listBounds = { limit: 200, usualLimit: 50 } as const;
/** More than there may be: so many are looked at. The header's own bound is one for the length of all. */
const MOST_PARAMETERS = 64;
const METADATA = "metadata.";

export interface ListQuery {
  readonly filter: ApproverFilter;
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** 400 with every fault; none of them holds what was submitted. */
export const invalidQuery = (faults: ReadonlyArray<QueryFault>): HttpFault =>
  httpFault(
    "INVALID_QUERY",
    "The query is not what this endpoint takes.",
    "Correct the parameters that the errors name; `id`, `type`, `metadata.<key>`, `limit` and `cursor` may be there.",
    { faults: faults.slice(0, Limits.listedFaults) },
  );

/** Percent-encoded UTF-8, in which a plus sign is a space, as forms and most clients encode it (WHATWG URL 5.1). */
const decoded = (text: string): string | undefined => {
  if (!/^[\x21-\x7e]*$/.test(text)) return undefined;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
};

interface Parameter {
  /** From 1, as faults tell it. */
  readonly place: number;
  readonly name: string;
  readonly value: string;
}

const fault = (parameter: string, code: string, detail: string): QueryFault => ({ parameter, code, detail });

/** A parameter without a known name is told by its place. */
const at = (place: number): string => `#${place}`;

const parameterOf = (text: string, index: number): Either.Either<Parameter, QueryFault> => {
  const place = index + 1;
  const equals = text.indexOf("=");
  if (equals < 1) return Either.left(fault(at(place), "malformed", "A parameter is name=value."));
  const [name, value] = [decoded(text.slice(0, equals)), decoded(text.slice(equals + 1))];
  return name === undefined || value === undefined
    ? Either.left(fault(at(place), "malformed_encoding", "Names and values are percent-encoded UTF-8."))
    : Either.right({ place, name, value });
};

/** Why a value is refused, by parameter; undefined where it is not. */
const valueFaults: { readonly [name: string]: (value: string) => string | undefined } = {
  id: (value) => (isApproverId(value) ? undefined : "This is not an approver's id."),
  type: (value) => (typeIn(value) === undefined ? `This is one of ${credentialTypes.join(", ")}.` : undefined),
  limit: (value) =>
    limitIn(value) === undefined
      ? `This is a whole number from 1 to ${listBounds.limit} without leading zeros.`
      : undefined,
  cursor: (value) => (value === "" ? "This is the nextCursor of a page." : undefined),
};

const typeIn = (value: string): ApproverFilter["type"] => credentialTypes.find((type) => type === value);

const limitIn = (value: string): number | undefined => {
  const limit = /^[1-9][0-9]{0,2}$/.test(value) ? Number(value) : 0;
  return limit >= 1 && limit <= listBounds.limit ? limit : undefined;
};

const metadataFault = (key: string, value: string): string | undefined => {
  const keyBytes = utf8Length(key) ?? 0;
  if (keyBytes === 0) return "The key after the dot takes at least 1 byte.";
  if (keyBytes > Limits.metadataKeyBytes) return `A key takes at most ${Limits.metadataKeyBytes} bytes of UTF-8.`;
  if ((utf8Length(value) ?? 0) <= Limits.metadataValueBytes) return undefined;
  return `A value takes at most ${Limits.metadataValueBytes} bytes of UTF-8.`;
};

const judged = ({ place, name, value }: Parameter, isRepeated: boolean): QueryFault | undefined => {
  const isMetadata = name.startsWith(METADATA);
  const known = isMetadata ? undefined : Object.entries(valueFaults).find(([other]) => other === name);
  if (!isMetadata && known === undefined) return fault(at(place), "unknown_parameter", "There is no such parameter.");
  const told = isMetadata ? `metadata ${at(place)}` : name;
  if (isRepeated) return fault(told, "repeated", "A parameter may be there once.");
  const why = isMetadata ? metadataFault(name.slice(METADATA.length), value) : known?.[1](value);
  return why === undefined ? undefined : fault(told, "invalid_value", why);
};

/**
 * Reads what follows the question mark. The cursor is only known not to be empty.
 *
 * @returns the filter, with the limit 50 where none is given; or `INVALID_QUERY`
 */
export const parseListQuery = (query: string): Either.Either<ListQuery, HttpFault> => {
  const texts = query === "" ? [] : query.split("&");
  const read = texts.slice(0, MOST_PARAMETERS).map(parameterOf);
  const given = read.flatMap((each) => (Either.isRight(each) ? [each.right] : []));
  const first = new Map(given.toReversed().map(({ name, place }) => [name, place]));
  const faults = read.flatMap((each) => {
    if (Either.isLeft(each)) return [each.left];
    return judged(each.right, first.get(each.right.name) !== each.right.place) ?? [];
  });
  const metadata = given.flatMap(({ name, value }) =>
    name.startsWith(METADATA) ? [[name.slice(METADATA.length), value] as const] : [],
  );
  if (metadata.length > Limits.metadataPairs || texts.length > MOST_PARAMETERS)
    faults.push(fault("metadata", "too_many", `At most ${Limits.metadataPairs} pairs are looked for at once.`));
  if (faults.length > 0) return Either.left(invalidQuery(faults));
  const values = new Map(given.map(({ name, value }) => [name, value]));
  return Either.right({
    filter: { id: values.get("id"), type: typeIn(values.get("type") ?? ""), metadata },
    limit: limitIn(values.get("limit") ?? "") ?? listBounds.usualLimit,
    cursor: values.get("cursor"),
  });
};
