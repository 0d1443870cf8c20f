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
  /** The segments of its pattern; undefined when malformed. */
  readonly segments: ReadonlyArray<string> | undefined;
}

const parseEntry = (entry: string): Entry => {
  const denies = entry.startsWith(denial);
  const pattern = denies ? entry.slice(denial.length) : entry;
  return { denies, segments: grantPattern.test(pattern) ? pattern.split(".") : undefined };
};

/** Whether an entry is a well-formed grant or denial. */
export const isPermissionEntry = (entry: string): boolean => parseEntry(entry).segments !== undefined;

const segmentCovers = (pattern: string, segment: string): boolean => {
  if (!pattern.endsWith("*")) return pattern === segment;
  const start = pattern.slice(0, -1);
  return segment.length > start.length && segment.startsWith(start);
};

const covers = (segments: ReadonlyArray<string>, wanted: ReadonlyArray<string>): boolean =>
  segments.length === wanted.length &&
  segments.every((segment, index) => {
    const name = wanted[index];
    return name !== undefined && segmentCovers(segment, name);
  });

/**
 * The permissions of a token, patterns and denials in any order, each of which is read once however many names are asked
 * about.
 *
 * A malformed grant grants nothing. A malformed denial permits nothing at all:
 * something was meant to be forbidden, and nobody can tell what.
 */
export class Grants {
  readonly #granted: ReadonlyArray<string>;
  /** Those that were read. */
  readonly #entries = new Map<string, Entry>();

  constructor(granted: ReadonlyArray<string>) {
    this.#granted = granted;
  }

  /** @param wanted one full name, without `*`; anything else is never permitted */
  permit(wanted: string): boolean {
    if (!namePattern.test(wanted)) return false;
    let name: ReadonlyArray<string> | undefined;
    let allowed = false;
    for (const granted of this.#granted) {
      // By far the most common grant: the very name, which was found well-formed above.
      if (granted === wanted) {
        allowed = true;
        continue;
      }
      const { denies, segments } = this.#read(granted);
      const matches = segments === undefined ? denies : covers(segments, (name ??= wanted.split(".")));
      if (matches && denies) return false;
      if (matches) allowed = true;
    }
    return allowed;
  }

  #read(granted: string): Entry {
    const known = this.#entries.get(granted);
    if (known !== undefined) return known;
    const entry = parseEntry(granted);
    this.#entries.set(granted, entry);
    return entry;
  }
}

/** Whether the permissions of a token allow what is wanted; see {@link Grants}. */
export const permits = (granted: ReadonlyArray<string>, wanted: string): boolean => new Grants(granted).permit(wanted);
