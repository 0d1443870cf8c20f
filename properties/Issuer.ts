/** The issuer of a test's tokens, whose keys are in a folder. */
import { Effect } from "effect";
import { openDevelopmentIssuer } from "../server/auth/DevelopmentIssuer.ts";

export type Mint = Awaited<ReturnType<typeof openIssuer>>;

/** Opens it, or makes its keys; returns the function that makes its tokens. */
export const openIssuer = async (directory: string) => {
  const issuer = await Effect.runPromise(openDevelopmentIssuer(directory));
  return (
    permissions: ReadonlyArray<string>,
    ttlMillis = 3_600_000,
    now = Date.now(),
    subject = "operator",
  ): Promise<string> =>
    Effect.runPromise(issuer.mint({ subject, permissions, ttlMillis, audience: "custody", issuer: undefined, now }));
};
