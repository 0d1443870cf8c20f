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

/** The first text behind all words that a pattern covers; undefined where there is none. */
const behind = (pattern: string): string | undefined => {
  if (pattern === "*") return undefined;
  // Right after the hyphen that the prefix ends with comes the full stop.
  return pattern.endsWith("*") ? `${pattern.slice(0, -2)}.` : `${pattern}\u0000`;
};

/** The first text from this one on that a pattern covers, or one before it; undefined where none comes any more. */
const covered = (pattern: string, from: string): string | undefined => {
  const start = pattern.endsWith("*") ? pattern.slice(0, -1) : pattern;
  if (from <= start) return start;
  return pattern.endsWith("*") && from.startsWith(start) ? from : undefined;
};

/** The words that may stand at one place of a name, so that it is permitted. */
class Words {
  readonly #granted: ReadonlyArray<string>;
  readonly #denied: ReadonlyArray<string>;

  constructor(granted: ReadonlyArray<string>, denied: ReadonlyArray<string>) {
    this.#granted = granted;
    this.#denied = denied;
  }

  /**
   * For whoever looks for such words among many, in the order of their characters: where to look on.
   *
   * @returns `from`, or a later text that all such words are behind or at; undefined where none comes any more
   */
  seek(from: string): string | undefined {
    let at: string | undefined = from;
    while (at !== undefined) {
      const here: string = at;
      const starts = this.#granted.flatMap((pattern) => covered(pattern, here) ?? []);
      if (starts.length === 0) return undefined;
      const first = starts.reduce((one, other) => (one < other ? one : other));
      const denial = this.#denied.find((pattern) => segmentCovers(pattern, first));
      if (denial === undefined) return first;
      at = behind(denial);
    }
    return undefined;
  }
}

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

  /** @param wanted a full name with `*` at one place: for which words there it may be permitted */
  words(wanted: string): Words {
    const names = wanted.split(".");
    const place = names.indexOf("*");
    const granted: Array<string> = [];
    const denied: Array<string> = [];
    for (const entry of this.#granted) {
      const { denies, segments } = this.#read(entry);
      if (segments === undefined && denies) return new Words([], []);
      const word = segments?.[place];
      if (word === undefined || !covers(segments ?? [], names.with(place, word.replace("*", "x")))) continue;
      (denies ? denied : granted).push(word);
    }
    return new Words(granted, denied);
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
