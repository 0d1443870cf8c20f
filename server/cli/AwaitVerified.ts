/** Waits for a peer that was unsealed and verifies its records, for as long as it makes progress. */
import { Effect } from "effect";
import { readStatusAnswer } from "./Answers.ts";
import { CliFailure } from "./CliFailure.ts";
import type { Service } from "./ServiceClient.ts";

/** How far a peer is: rows verified, of so many. */
export interface Verifying {
  readonly rows: number;
  readonly of: number;
}

const pollMillis = 500;
/** A minute without progress, or without an answer. */
const patientPolls = 120;

/** `12,345 of 600,000 rows`. */
export const progressText = ({ rows, of }: Verifying): string =>
  `${rows.toLocaleString("en-US")} of ${of.toLocaleString("en-US")} rows`;

const stuck = new CliFailure({
  kind: "unknown",
  message: "the peer is unsealed, and for a minute the verification of its records has not moved",
  hint: "look at its log; custody status says how far it is",
});

const sealedAgain = new CliFailure({
  kind: "refused",
  message: "the peer was sealed or restarted before its records were verified",
  hint: "unseal it again",
});

const damaged = new CliFailure({
  kind: "refused",
  message: "the peer has its keys and signs nothing: its stored records do not hold",
  hint: "restore it from its backup; its log and custody status say which record it is",
});

/**
 * Resolves once nothing is being verified any more. Fails when the peer is
 * sealed meanwhile, when its records do not hold, or when a minute passes
 * without progress.
 *
 * @param told called with each progress that differs from the one before
 */
export const awaitVerified = (
  { call }: Pick<Service, "call">,
  told: (progress: Verifying) => Effect.Effect<void>,
): Effect.Effect<void, CliFailure> =>
  Effect.gen(function* () {
    let idle = 0;
    let last = -1;
    const look = call({ method: "GET", path: "/v1/custody/system/status" }).pipe(
      Effect.flatMap(({ body }) => readStatusAnswer(body)),
      // A busy peer may miss one answer; it is asked again.
      Effect.catchIf(
        ({ kind }) => kind !== "refused",
        () => Effect.succeed(undefined),
      ),
    );
    // Of what keeps it from reading it tells everybody; of its damage behind another reason, its operators.
    const isDamaged = call({ method: "GET", path: "/v1/custody/system/readable" }).pipe(
      Effect.as(false),
      Effect.catchIf(
        ({ kind }) => kind === "refused",
        ({ problem }) => Effect.succeed(problem?.code === "INTEGRITY_FAILURE"),
      ),
      Effect.catchAll(() => Effect.succeed(undefined)),
    );
    for (let status = yield* look; ; status = yield* look) {
      if (status !== undefined && status.state !== "UNSEALED") return yield* sealedAgain;
      if (status !== undefined && status.verifying === undefined) {
        const found = status.detail?.integrityFault === undefined ? yield* isDamaged : true;
        if (found === true) return yield* damaged;
        if (found === false) return;
      }
      const rows = status?.verifying?.rows ?? last;
      idle = rows === last ? idle + 1 : 0;
      if (idle >= patientPolls) return yield* stuck;
      if (status?.verifying !== undefined && rows !== last) yield* told(status.verifying);
      last = rows;
      yield* Effect.sleep(pollMillis);
    }
  });
