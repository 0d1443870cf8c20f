import { Limits } from "../base/Limits.ts";

/** Whether a text is an approver id: contract 2.1, `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`, case-sensitive. */
export const isApproverId = (text: string): boolean =>
  text.length <= Limits.approverIdCharacters && /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(text);
