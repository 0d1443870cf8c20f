/** The approvers as entries of the registry root. */
import type { Contents } from "../../protocol/Command.ts";
import { replaceApprover } from "./Root.ts";
import { approverRows } from "./Tables.ts";

export const approverContents: Contents = (crypto, view, after, limit) => {
  const rows = approverRows(view);
  return rows.scan("approvers", after, limit).map(({ key, row }) => ({
    key,
    revision: row.revision,
    isCounted: true,
    isSound: rows.get("keys", row.keyIdentity)?.id === row.id,
    addTo: (set) => replaceApprover(crypto, set, undefined, row),
  }));
};
