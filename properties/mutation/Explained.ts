/**
 * Mutants of `core` that no test can tell from what is written, or that none needs to, and why. One is known by its
 * file, the code that is changed and what it is changed to; `npm run mutate` takes those out of its list.
 */
import { auth } from "./explained/Auth.ts";
import { codec } from "./explained/Codec.ts";
import { core } from "./explained/Core.ts";
import { credential } from "./explained/Credential.ts";
import { enrollment } from "./explained/Enrollment.ts";
import { protocol } from "./explained/Protocol.ts";
import { registry } from "./explained/Registry.ts";
import { webauthn } from "./explained/Webauthn.ts";
import type { ExplainedFiles } from "./explained/Reasons.ts";

const files: ExplainedFiles = {
  ...core,
  ...auth,
  ...codec,
  ...credential,
  ...protocol,
  ...enrollment,
  ...registry,
  ...webauthn,
};

export const explained = Object.entries(files).flatMap(([file, reasons]) =>
  Object.values(reasons).flatMap((changes) =>
    changes.map(([original, replacement]) => ({ file, original, replacement })),
  ),
);
