/** `npm run fuzz:ceremony`: mutated attestation objects through the ceremony. Fails if it throws or its memory grows. */
import { nativeCeremonyCrypto } from "../../server/crypto/NativeCeremonyCrypto.ts";
import { positive, printLine, runScript, type Script } from "../../sim/bin/Script.ts";
import { fuzz } from "./Fuzz.ts";

const COUNT = "100000";
const SEED = "1";
const mebibyte = 1024 * 1024;
/** Some 40 MiB of it are the program and its libraries. */
const mostMebibytes = 256;
/** Mutations between two looks at the memory. */
const ROUND = 5_000;

const help = `npm run fuzz:ceremony -- [--count N] [--seed N]

  --count N        attestation objects to mutate; ${COUNT} without
  --seed N         what the mutations are drawn from; ${SEED} without

Ends with 0 when each was refused or accepted in bounded memory, 1 when one
made the ceremony throw or heap and buffers took more than ${mostMebibytes} MiB, 2 on wrong usage.
`;

const options = {
  count: { type: "string", default: COUNT },
  seed: { type: "string", default: SEED },
} as const;

const main: Script<typeof options>["main"] = (values) => {
  const [count, seed] = [positive(values.count, "count"), positive(values.seed, "seed")];
  let accepted = 0;
  let most = 0;
  for (let done = 0; done < count; done += ROUND) {
    const result = fuzz(nativeCeremonyCrypto, Math.min(ROUND, count - done), seed + done);
    accepted += result.accepted;
    const { heapUsed, external } = process.memoryUsage();
    most = Math.max(most, (heapUsed + external) / mebibyte);
    if (most > mostMebibytes) {
      process.stderr.write(`heap and buffers took ${Math.round(most)} MiB after ${done} mutations\n`);
      return 1;
    }
  }
  printLine(
    `${count} mutations, ${accepted} accepted, none threw, at most ${Math.round(most)} MiB of heap and buffers`,
  );
  return 0;
};

await runScript({ help, options, main });
