/** The limits of the contract that a body may keep or break by one, each by its section. */
export type Rule =
  | "2.1 id"
  | "2.4 pairs"
  | "2.4 key"
  | "2.4 value"
  | "2.4 total"
  | "4.1 response"
  | "4.1.2 body"
  | "4.1.3 key"
  | "8 body";
