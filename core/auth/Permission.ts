/**
 * Permissions: names of segments separated by dots, as the contract writes them
 * (`service.approvers.register`), and the patterns a token grants them by.
 *
 * A pattern has as many segments as the names it covers. A segment is a word,
 * `*` for any one word, or `prefix-*` for any word that goes on after `prefix-`.
 * A leading `-` makes it a denial, and a denial wins over every grant.
 */

const word = "[A-Za-z0-9_][A-Za-z0-9_-]*";
const namePattern = new RegExp(`^${word}(\\.${word})*$`);
const patternSegment = `(\\*|${word}-\\*|${word})`;
const grantPattern = new RegExp(`^${patternSegment}(\\.${patternSegment})*$`);

const denial = "-";

interface Entry {
  readonly denies: boolean;
  /** Undefined when malformed. */
  readonly pattern: string | undefined;
}

const parseEntry = (entry: string): Entry => {
  const denies = entry.startsWith(denial);
  const pattern = denies ? entry.slice(denial.length) : entry;
  return { denies, pattern: grantPattern.test(pattern) ? pattern : undefined };
};

/** Whether an entry is a well-formed grant or denial. */
export const isPermissionEntry = (entry: string): boolean => parseEntry(entry).pattern !== undefined;

const segmentCovers = (pattern: string, segment: string): boolean => {
  if (!pattern.endsWith("*")) return pattern === segment;
  const start = pattern.slice(0, -1);
  return segment.length > start.length && segment.startsWith(start);
};

const covers = (pattern: string, wanted: ReadonlyArray<string>): boolean => {
  const segments = pattern.split(".");
  return (
    segments.length === wanted.length &&
    segments.every((segment, index) => {
      const name = wanted[index];
      return name !== undefined && segmentCovers(segment, name);
    })
  );
};

/**
 * Whether the permissions of a token allow what is wanted.
 *
 * @param granted patterns and denials, in any order
 * @param wanted one full name, without `*`; anything else is never permitted
 *
 * A malformed grant grants nothing. A malformed denial permits nothing at all:
 * something was meant to be forbidden, and nobody can tell what.
 */
export const permits = (granted: ReadonlyArray<string>, wanted: string): boolean => {
  if (!namePattern.test(wanted)) return false;
  let segments: ReadonlyArray<string> | undefined;
  let allowed = false;
  for (const entry of granted) {
    // By far the most common grant: the very name, which was found well-formed above.
    if (entry === wanted) {
      allowed = true;
      continue;
    }
    const { denies, pattern } = parseEntry(entry);
    const matches = pattern === undefined ? denies : covers(pattern, (segments ??= wanted.split(".")));
    if (matches && denies) return false;
    if (matches) allowed = true;
  }
  return allowed;
};
