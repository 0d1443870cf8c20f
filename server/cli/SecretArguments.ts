/** Arguments show in the process list and in the shell's history, so secrets are refused there, unread and unechoed. */
import { type CliFailure, usageFailure } from "./CliFailure.ts";

const refused = (message: string, hint: string): CliFailure =>
  usageFailure(`${message}: arguments are visible to other users and kept by the shell`, hint);

const tokenRefused = refused(
  "a token is never an argument",
  "put it into CUSTODY_TOKEN or into a file named by --token-file; take this one out of the shell's history",
);
const shareRefused = refused(
  "an unseal share is never an argument",
  "run custody unseal and type it at the prompt, or give shares one per line on standard input",
);
const keyRefused = refused(
  "a private key is never an argument",
  "register takes the name of a file with the public key: --key FILE",
);

/** JWS compact serialization (RFC 7515 section 7.1) whose header is a JSON object. */
const tokenShape = /eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/;
/** Base64 of 50 bytes of which the first is 1, see server/seal/UnsealShare.ts. */
const shareShape = /(^|=)A[Q-Za-f][A-Za-z0-9+/]{65}=$/;

/** Options of `unseal` and `rekey` that take no value. */
const flags = new Set(["--json", "--several", "--reset", "--start"]);

/** Neither an option nor the value of one. */
const isStray = (arg: string, index: number, args: ReadonlyArray<string>): boolean => {
  const before = args[index - 1];
  const isValue = before?.startsWith("--") === true && !before.includes("=") && !flags.has(before);
  return !arg.startsWith("-") && !isValue;
};

/** Why an argument list must not be used; undefined when it shows no secret. */
export const secretInArguments = (args: ReadonlyArray<string>): CliFailure | undefined => {
  const names = args.map((arg) => arg.split("=")[0]);
  if (args.some((arg) => arg.includes("PRIVATE KEY"))) return keyRefused;
  if (names.includes("--token") || args.some((arg) => tokenShape.test(arg))) return tokenRefused;
  if (names.includes("--share") || names.includes("--shares")) return shareRefused;
  if (args.some((arg) => shareShape.test(arg))) return shareRefused;
  // Anything else there would be echoed as unknown, and could be a share with a typing error.
  return (args[0] === "unseal" || args[0] === "rekey") && args.slice(1).some(isStray) ? shareRefused : undefined;
};
