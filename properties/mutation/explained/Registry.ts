/** Of `core/registry`. */
import { type ExplainedFiles, REMEMBERED } from "./Reasons.ts";

export const registry: ExplainedFiles = {
  "core/registry/ApproverRow.ts": {
    [REMEMBERED]: [["known !== undefined", "false"]],
  },
  "core/registry/Mutation.ts": {
    [REMEMBERED]: [
      ["known !== undefined && known.crypto === crypto && known.providers === providers", "false"],
      ["{ crypto, providers, meaning }", "{}"],
    ],
  },
  "core/registry/Registration.ts": {
    [REMEMBERED]: [["known !== undefined && known.createdAt === proposedAt", "false"]],
  },
  "core/registry/Replacement.ts": {
    [REMEMBERED]: [
      ["known !== undefined && known.from === from && known.effects.updatedAt === updatedAt", "false"],
      ["{ from, effects }", "{}"],
    ],
    "Where the two are asked about, one of them is the higher.": [
      ["baseRevision < from.revision", "baseRevision <= from.revision"],
    ],
  },
  "core/registry/Root.ts": {
    [REMEMBERED]: [
      ["known !== undefined && known.crypto === crypto", "false"],
      ["{ crypto, digest: element }", "{}"],
    ],
  },
};
