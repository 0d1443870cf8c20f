/**
 * Registers as fast as a cluster takes it, in a process of its own, so that who measures reads has only these to do.
 * Arguments: origin, token, size of the registry. Ends with SIGTERM and prints how many a second were registered.
 */
import { load } from "../Load.ts";
import { rounded } from "../Statistics.ts";
import { newRegistration } from "./Questions.ts";

/** So many saturate a cluster on two cores. */
const CALLERS = 64;
const WARM_UP = 256;

const [origin = "", token = "", size = "1"] = process.argv.slice(2);
const registered = async (count: number): Promise<void> => {
  const calls = Array.from({ length: count }, () => newRegistration(token, Number(size), true));
  const first = newRegistration(token, Number(size), true);
  const { statuses } = await load(origin, CALLERS, count, (index) => calls[index] ?? first);
  if (statuses.get(201) !== count) throw new Error(JSON.stringify([...statuses]));
};

await registered(WARM_UP);
process.stdout.write("begun\n");
const began = performance.now();
let count = 0;
const ending = new AbortController();
process.once("SIGTERM", () => ending.abort());
for (; !ending.signal.aborted; count += WARM_UP) await registered(WARM_UP);
process.stdout.write(`${rounded((count * 1000) / (performance.now() - began), 0)} a second\n`);
