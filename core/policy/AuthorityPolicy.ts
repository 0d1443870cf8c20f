/** The `policy` of an authority's manifest, as far as it is about approvers (contract 2.6). */
import { Limits } from "../base/Limits.ts";
import { checked, described, map, object, optional, type Shape, text, word } from "../codec/Shape.ts";
import { isApproverId } from "../credential/ApproverId.ts";
import { type Pin, pinShape } from "./Entry.ts";
import { type Group, groupShape } from "./Group.ts";

export interface AuthorityPolicy {
  readonly id: string;
  /** What holds where no rule of the authority says otherwise. */
  readonly fallback: "DENY" | "ALLOW" | "ALLOW_WITH_REQUIREMENTS";
  /** By alias. Those that no group names are resolved too (contract 7). */
  readonly approvers: ReadonlyMap<string, Pin>;
  /** There with ALLOW_WITH_REQUIREMENTS, and only then. */
  readonly fallbackApprovals?: Group | undefined;
}

const ALIAS_RULE = "An alias is 1 to 128 of A-Z a-z 0-9 . _ - and starts with a letter or a digit.";

const approvers = checked(map(pinShape, { maxProperties: Limits.policyEntries }), (_read, source, place) => {
  if (source.size > Limits.policyEntries)
    place.fault("too_many", `This takes at most ${Limits.policyEntries} approvers.`);
  for (const alias of source.keys()) if (!isApproverId(alias)) place.member(alias).fault("invalid_value", ALIAS_RULE);
});

const members = object({
  id: text({
    longest: Limits.policyIdCharacters,
    pattern: /^[a-z0-9]+(?:[-_/][a-z0-9]+)*$/,
    rule: `An id is 1 to ${Limits.policyIdCharacters} of a-z 0-9, in words joined by - _ or /.`,
  }),
  fallback: word(["DENY", "ALLOW", "ALLOW_WITH_REQUIREMENTS"], "Use DENY, ALLOW or ALLOW_WITH_REQUIREMENTS."),
  approvers: described("Pins by alias.", approvers),
  fallbackApprovals: optional(described("With ALLOW_WITH_REQUIREMENTS, and only then.", groupShape)),
});

/** The member `policy`. */
export const authorityPolicyShape: Shape<AuthorityPolicy> = checked(members, ({ fallback }, source, place) => {
  const group = source.get("fallbackApprovals");
  const at = place.member("fallbackApprovals");
  if (fallback === "ALLOW_WITH_REQUIREMENTS" && group === undefined)
    at.fault("missing_field", "ALLOW_WITH_REQUIREMENTS says here what it requires.");
  if (fallback !== undefined && fallback !== "ALLOW_WITH_REQUIREMENTS" && group !== undefined)
    at.fault("unknown_field", "Only ALLOW_WITH_REQUIREMENTS takes approvals.");
  const known = source.get("approvers");
  const named = group instanceof Map ? group.get("approvers") : undefined;
  if (!(known instanceof Map) || !Array.isArray(named)) return;
  for (const [index, alias] of named.slice(0, Limits.policyEntries).entries())
    if (typeof alias === "string" && isApproverId(alias) && !known.has(alias))
      at.member("approvers").member(index).fault("unknown_alias", "No approver of the policy has this alias.");
});
