/** Approvers, as what registrations make and replacements of metadata change. */
import { replaceApprover } from "../../../core/commands/approvers/Root.ts";
import type { Rows } from "../../../core/Tables.ts";
import { labelsOf } from "../../requests/Labels.ts";
import type { Subject } from "../Subject.ts";

type Approver = Rows["approvers"];
type Pairs = Approver["metadata"];

/** Pairs as one text, equal exactly where they are; the lengths tell names and values from what separates them. */
const textOf = (pairs: Pairs): string => {
  let text = "";
  const sorted = pairs.length < 2 ? pairs : pairs.toSorted(([left], [right]) => (left < right ? -1 : 1));
  for (const [name, value] of sorted) text += `${name.length} ${name}: ${value.length} ${value}; `;
  return text;
};

/** What callers mean by a team, as such a text. */
export const metadataOf = (team: string | undefined): string => textOf(labelsOf(team));

export const approverSubject: Subject<Approver> = {
  table: "approvers",
  name: "approver",
  isCounted: true,
  revisionOf: ({ revision }) => revision,
  addTo: (crypto, set, row) => replaceApprover(crypto, set, undefined, row),
  changed: (first, now) => {
    for (const field of ["id", "ref", "descriptor", "keyIdentity", "createdAt"] as const)
      if (first[field] !== now[field]) return field;
    return undefined;
  },
  differs: (left, right) => {
    if (left.updatedAt !== right.updatedAt) return "updatedAt";
    if (left.metadata === right.metadata) return undefined;
    return JSON.stringify(left.metadata) === JSON.stringify(right.metadata) ? undefined : "metadata";
  },
  shownIn: (answer) => {
    if (answer._tag === "Registered") {
      const { approver, created } = answer;
      return { ref: approver.ref, row: approver, created, promised: 1, own: undefined };
    }
    if (answer._tag !== "Replaced") return undefined;
    const { approver } = answer;
    const { ref, revision } = approver;
    return { ref, row: approver, created: false, promised: revision, own: `revision ${revision}` };
  },
  seen: ({ id, metadata, revision }) => ({ id, metadata: textOf(metadata), revision }),
};
