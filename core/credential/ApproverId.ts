import { Limits } from "../base/Limits.ts";
import { described, text } from "../codec/Shape.ts";

const PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Whether a text is an approver id: contract 2.1, `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`, case-sensitive. */
export const isApproverId = (id: string): boolean => id.length <= Limits.approverIdCharacters && PATTERN.test(id);

/** The same, as the field of a body. */
export const approverIdShape = described(
  "Case-sensitive. Says who approves; versions with other keys may share it.",
  text({
    longest: Limits.approverIdCharacters,
    pattern: PATTERN,
    rule: "An id is 1 to 128 of A-Z a-z 0-9 . _ - and starts with a letter or a digit.",
  }),
);
