/**
 * How tokens carry permissions, as the contract has it (5): `*` stands for one segment, also as `prefix-*`; what begins
 * with `-` is denied, whatever else is granted. A notion of its own, which judges what members make of a token.
 */

export type Grants = ReadonlyArray<string>;

const STAR = "*";
const DENIAL = "-";

const isOf = (pattern: string, segment: string): boolean =>
  pattern === STAR ||
  pattern === segment ||
  (pattern.endsWith("-*") && segment.length >= pattern.length && segment.startsWith(pattern.slice(0, -1)));

const covers = (grant: string, name: string): boolean => {
  const patterns = grant.split(".");
  const segments = name.split(".");
  return patterns.length === segments.length && segments.every((each, at) => isOf(patterns[at] ?? "", each));
};

/** Whether the bearer may do what takes this permission. */
export const allows = (grants: Grants, name: string): boolean =>
  grants.some((each) => covers(each, name)) &&
  !grants.some((each) => each.startsWith(DENIAL) && covers(each.slice(DENIAL.length), name));

const withLast = (name: string, last: string): string => `${name.slice(0, name.lastIndexOf(".") + 1)}${last}`;
/** With what follows the first dash of each segment left open; the name itself where there is none. */
const openEnded = (name: string): string => name.replaceAll(/-[^.]*/g, "-*");

/** Forms in which a permission is granted, beside another one; the first is the usual one. */
export const granting = (needed: string, other: string): ReadonlyArray<Grants> => [
  [needed],
  [other, needed],
  [withLast(needed, STAR)],
  [`*${needed.slice(needed.indexOf("."))}`],
  [openEnded(needed), `${DENIAL}${other}`],
  [`${DENIAL}${needed}.more`, needed],
];

/** Forms in which it is not, whatever they look like; the first is the usual one. */
export const withholding = (needed: string, other: string): ReadonlyArray<Grants> => [
  ["service.approvers.read", other],
  [needed, `${DENIAL}${needed}`],
  [`${DENIAL}${needed}`, needed],
  [needed, other, `${DENIAL}${withLast(needed, STAR)}`],
  [`${needed}.more`, `${needed}-${STAR}`],
  [`${DENIAL}${openEnded(needed)}`, withLast(needed, STAR)],
];
