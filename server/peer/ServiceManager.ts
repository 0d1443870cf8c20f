/**
 * Tells the service manager how far this process is (sd_notify(3)). Node cannot write to a datagram socket, so
 * systemd's own helper does it; where no manager asks for it, nothing happens.
 */
import { spawn } from "node:child_process";
import { Effect } from "effect";
import type { Log } from "./Log.ts";

const HELPER = "systemd-notify";
/** The helper waits until it was heard, so that the manager still knows whose message it is. */
const HEARD_MILLIS = 5_000;

/**
 * Sends assignments such as `READY=1`. Never fails: a failure to send is logged.
 *
 * @param env of this process; `NOTIFY_SOCKET` is the manager's
 */
export const tellManager = (
  env: Readonly<Record<string, string | undefined>>,
  log: Log,
  ...assignments: ReadonlyArray<string>
): Effect.Effect<void> => {
  const socket = env["NOTIFY_SOCKET"];
  if (socket === undefined) return Effect.void;
  return Effect.async<void>((resume) => {
    const untold = (reason: string): void => log.warn("service manager", { untold: assignments.join(" "), reason });
    const helper = spawn(HELPER, [...assignments], {
      env: { PATH: env["PATH"], NOTIFY_SOCKET: socket },
      stdio: "ignore",
      timeout: HEARD_MILLIS,
      killSignal: "SIGKILL",
    });
    helper.once("error", () => {
      untold(`${HELPER} cannot be started; install it, or set Type=exec in the unit`);
      resume(Effect.void);
    });
    helper.once("exit", (code, signal) => {
      if (code !== 0) untold(`${HELPER} ended with ${code ?? signal}`);
      resume(Effect.void);
    });
  });
};
