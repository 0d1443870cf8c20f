/** The id under which a caller and the log know a request. The protocol has ids of its own. */
import { randomUUID } from "node:crypto";

const acceptable = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's `X-Request-Id` when it is harmless, else a fresh one. */
export const requestIdOf = (submitted: string | ReadonlyArray<string> | undefined): string =>
  typeof submitted === "string" && acceptable.test(submitted) ? submitted : randomUUID();
