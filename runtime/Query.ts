/** Query parameters, read as strictly as a body: each known, once, and within its bounds. */
import { Either } from "effect";
import { Limits } from "../core/base/Limits.ts";

/** More than there may be: so many are looked at. The header's own bound is one for the length of all. */
const MOST_PARAMETERS = 64;

/** One fault of a query: a parameter by its name where that is known, else by its place from 1, such as `#3`. */
export interface QueryFault {
  readonly parameter: string;
  readonly code: string;
  readonly detail: string;
}

/** At least one, and as many as an answer lists; none of them holds what was submitted. */
export type QueryFaults = ReadonlyArray<QueryFault>;

/** Percent-encoded UTF-8, in which a plus sign is a space, as forms and most clients encode it (WHATWG URL 5.1). */
const decoded = (text: string): string | undefined => {
  if (!/^[\x21-\x7e]*$/.test(text)) return undefined;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
};

export interface Parameter {
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

/** The parameters an endpoint takes: why a value is refused, or undefined where it is not. */
export interface QueryRules {
  readonly named: { readonly [name: string]: (value: string) => string | undefined };
  /** Parameters whose names begin alike and end as the caller chose, such as `metadata.<key>`. */
  readonly pairs?: {
    readonly of: string;
    readonly most: number;
    readonly fault: (key: string, value: string) => string | undefined;
  };
}

const judged = (
  { named, pairs }: QueryRules,
  { place, name, value }: Parameter,
  isRepeated: boolean,
): QueryFault | undefined => {
  const pair = pairs !== undefined && name.startsWith(`${pairs.of}.`) ? pairs : undefined;
  const rule = Object.hasOwn(named, name) ? named[name] : undefined;
  if (pair === undefined && rule === undefined)
    return fault(at(place), "unknown_parameter", "There is no such parameter.");
  const told = pair === undefined ? name : `${pair.of} ${at(place)}`;
  if (isRepeated) return fault(told, "repeated", "A parameter may be there once.");
  const why = pair === undefined ? rule?.(value) : pair.fault(name.slice(pair.of.length + 1), value);
  return why === undefined ? undefined : fault(told, "invalid_value", why);
};

/** Reads what follows the question mark; Left names every fault. */
export const readQuery = (query: string, rules: QueryRules): Either.Either<ReadonlyArray<Parameter>, QueryFaults> => {
  const texts = query === "" ? [] : query.split("&");
  const read = texts.slice(0, MOST_PARAMETERS).map(parameterOf);
  const given = read.flatMap((each) => (Either.isRight(each) ? [each.right] : []));
  const first = new Map(given.toReversed().map(({ name, place }) => [name, place]));
  const faults = read.flatMap((each) => {
    if (Either.isLeft(each)) return [each.left];
    return judged(rules, each.right, first.get(each.right.name) !== each.right.place) ?? [];
  });
  const { pairs } = rules;
  const found = pairs === undefined ? 0 : given.filter(({ name }) => name.startsWith(`${pairs.of}.`)).length;
  if (pairs !== undefined && (found > pairs.most || texts.length > MOST_PARAMETERS))
    faults.push(fault(pairs.of, "too_many", `At most ${pairs.most} pairs are looked for at once.`));
  else if (texts.length > MOST_PARAMETERS)
    faults.push(fault(at(MOST_PARAMETERS + 1), "too_many", `At most ${MOST_PARAMETERS} parameters are read.`));
  return faults.length > 0 ? Either.left(faults.slice(0, Limits.listedFaults)) : Either.right(given);
};

/** A whole number from 1 to `most`, without leading zeros; undefined for any other text. */
export const wholeNumber = (text: string, most: number): number | undefined => {
  const value = /^[1-9][0-9]{0,15}$/.test(text) ? Number(text) : 0;
  return value >= 1 && value <= most ? value : undefined;
};

export const wholeNumberFault = (text: string, most: number): string | undefined =>
  wholeNumber(text, most) === undefined ? `This is a whole number from 1 to ${most} without leading zeros.` : undefined;
