/** The metadata that callers mean by the name of a team: the team, and for some teams their site. */

const SITES: ReadonlyMap<string, string> = new Map([
  ["team-1", "north"],
  ["team-3", "north"],
]);

/** Sorted by name; none without a team. */
export const labelsOf = (team: string | undefined): ReadonlyArray<readonly [name: string, value: string]> => {
  if (team === undefined) return [];
  const site = SITES.get(team);
  return site === undefined
    ? [["team", team]]
    : [
        ["site", site],
        ["team", team],
      ];
};

/** As a body has it: in the order in which nothing is stored, or in the other. */
export const labelsJson = (team: string | undefined, isSorted = false): string =>
  JSON.stringify(Object.fromEntries(isSorted ? labelsOf(team) : labelsOf(team).toReversed()));
