/** The call that takes a copy of all that a peer stores. */
import type { IncomingMessage } from "node:http";
import { Effect, Either } from "effect";
import type { BackupRefusal, LiveBackup } from "../backup/LiveBackup.ts";
import type { Later } from "../peer/Operation.ts";
import type { ApiCall, Handler } from "./ApiCall.ts";
import { systemEndpoints } from "./endpoints/SystemEndpoints.ts";
import { faultOf, type HttpFault, httpFault } from "./HttpErrors.ts";
import { operated } from "./OperatorCalls.ts";

const faultOfRefusal = (refusal: BackupRefusal): HttpFault => {
  if ("code" in refusal) return faultOf(refusal);
  if (refusal.kind === "busy")
    return httpFault(
      "BACKUP_UNDER_WAY",
      "This peer makes or sends another backup.",
      "Repeat the call when it is done.",
    );
  if (refusal.kind === "erasing")
    return httpFault(
      "BACKUP_UNDER_WAY",
      "Keys or the vault were changed meanwhile, and the copy would have kept what is erased then.",
      "Repeat the call.",
    );
  if (refusal.kind === "full")
    return httpFault(
      "NO_SPACE",
      "The disk of the data directory has no space for a copy of the database.",
      "Free as much as the database takes; the peer needs the rest for its own rows.",
    );
  return httpFault("INTERNAL_ERROR", "The copy could not be made.", "Look at the log of this peer, and at its disk.");
};

/** Runs something for a caller, with a signal that is told when the caller's connection ends. */
const whileThere = async <A>(
  { socket }: IncomingMessage,
  run: (gone: AbortSignal) => Promise<A>,
  endOf: (done: A) => Promise<unknown>,
): Promise<A> => {
  const controller = new AbortController();
  const leave = (): void => controller.abort();
  if (socket.destroyed) leave();
  socket.once("close", leave);
  const forget = (): void => void socket.off("close", leave);
  try {
    const done = await run(controller.signal);
    void endOf(done).then(forget);
    return done;
  } catch (fault) {
    forget();
    throw fault;
  }
};

/** A backup that ends with its caller's connection, made or not. */
const making = ({ request, ports }: ApiCall): Promise<Either.Either<LiveBackup, BackupRefusal>> =>
  whileThere(
    request,
    async (gone) => {
      const made = await ports.backups.make(gone);
      if (Either.isLeft(made)) return made;
      const { stream } = made.right;
      gone.addEventListener("abort", () => stream.destroy());
      if (gone.aborted) stream.destroy();
      return made;
    },
    async (made) => Either.isRight(made) && made.right.ending,
  );

const brokenOff = async ({ ending }: LiveBackup): Promise<Later | undefined> => {
  const end = await ending;
  if (end === "whole") return undefined;
  const detail = end === "erasing" ? "a share of a key was erased" : "the caller went away, or was too slow";
  return { outcome: "BROKEN_OFF", detail };
};

const nameOf = ({ facts: { peerId, madeAt } }: LiveBackup): string =>
  `custody-peer-${peerId}-${new Date(madeAt).toISOString().replaceAll(/[-:]|\.\d+/g, "")}.backup.tar`;

/** POST /v1/custody/system/backup: the database as it is now, with a signed manifest, as a tar. */
export const backup: Handler = (call) =>
  operated(call, { call: "BACKUP", body: systemEndpoints.backup.body }, (_none, operation) =>
    Effect.gen(function* () {
      const { log } = call.ports;
      const made = yield* Effect.promise(() => making(call));
      if (Either.isLeft(made)) {
        if ("why" in made.left) log.warn("backup", { reason: made.left.why });
        return yield* Effect.fail(faultOfRefusal(made.left));
      }
      const { facts, bytes, stream } = made.right;
      operation.tell("ACCEPTED", `transaction ${facts.transactions}, ${bytes} bytes`);
      operation.follow(brokenOff(made.right));
      return {
        status: 200,
        body: "",
        type: systemEndpoints.backup.answers[200].type,
        headers: { "content-disposition": `attachment; filename="${nameOf(made.right)}"` },
        source: { bytes, stream },
      };
    }),
  );
