/** Of `core/auth`. */
import { type ExplainedFiles, FOR_TYPES } from "./Reasons.ts";

export const auth: ExplainedFiles = {
  "core/auth/Permission.ts": {
    [FOR_TYPES]: [["name !== undefined", "true"]],
    "A well-formed name is also a pattern, which covers itself; not to find that out again saves the work.": [
      ["entry === wanted", "false"],
      ["{\n      allowed = true;\n      continue;\n    }", "{}"],
    ],
  },
};
