/** A group of an authority policy: so many of these approvers, who are named by their aliases (contract 2.6). */
import { Limits } from "../base/Limits.ts";
import { checked, integer, list, object, type Shape } from "../codec/Shape.ts";
import { approverIdShape } from "../credential/ApproverId.ts";

export interface Group {
  readonly threshold: number;
  /** Distinct aliases, in the order in which they were written. */
  readonly approvers: ReadonlyArray<string>;
}

const members = object({
  threshold: integer(1, Limits.policyEntries),
  approvers: list(approverIdShape, { fewest: 1, most: Limits.policyEntries }),
});

/** Whether its aliases are those of approvers is judged where those are known. */
export const groupShape: Shape<Group> = checked(members, ({ threshold }, source, place) => {
  const aliases = source.get("approvers");
  if (!Array.isArray(aliases)) return;
  const many = place.member("approvers");
  for (const [index, alias] of aliases.slice(0, Limits.policyEntries).entries())
    if (aliases.indexOf(alias) < index) many.member(index).fault("repeated", "The group has this alias already.");
  if (threshold !== undefined && threshold > aliases.length)
    place.member("threshold").fault("invalid_value", "The threshold may be at most the number of approvers.");
});
