/** Why a command of the documentation is not run by the drill. */

export const reasons = {
  /** Running it here would say the same again. */
  ci: ".ci/run runs it",
  packed: "the step `package` has done it",
  services: "it changes the users or services of the machine",
  age: "the program age is not installed; server/seal/Recipients.test.ts decrypts such shares",
  sources: "it writes into the checkout",
  long: "it has no short form",
} as const;

export type Reason = keyof typeof reasons;
