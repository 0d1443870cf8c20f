/**
 * Registers as fast as a cluster takes it, in a process of its own, so that who measures reads has only these to do.
 * Arguments: origin, token, size of the registry, callers. Ends with SIGTERM and prints how many it registered a second.
 */
import { load } from "../Load.ts";
import { rounded } from "../Statistics.ts";
import { newRegistration } from "./Questions.ts";

/** Registrations of each caller in one go. */
const EACH = 8;

const [origin = "", token = "", size = "1", callers = "1"] = process.argv.slice(2);
const some = EACH * Number(callers);
const register = async (): Promise<void> => {
  const calls = Array.from({ length: some }, () => newRegistration(token, Number(size), true));
  const first = newRegistration(token, Number(size), true);
  const { statuses } = await load(origin, Number(callers), some, (index) => calls[index] ?? first);
  if (statuses.get(201) !== some) throw new Error(JSON.stringify([...statuses]));
};

await register();
process.stdout.write("begun\n");
const began = performance.now();
let count = 0;
const ending = new AbortController();
process.once("SIGTERM", () => ending.abort());
for (; !ending.signal.aborted; count += some) await register();
process.stdout.write(`${rounded((count * 1000) / (performance.now() - began), 0)} a second\n`);
