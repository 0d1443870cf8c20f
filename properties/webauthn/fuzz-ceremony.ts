/**
 * `npm run fuzz:ceremony [-- COUNT [SEED]]`: mutated attestation objects through
 * the ceremony, 100,000 unless told. Fails if it throws or its memory grows.
 */
import { nativeCeremonyCrypto } from "../../server/crypto/NativeCeremonyCrypto.ts";
import { fuzz } from "./Fuzz.ts";

const [count = "100000", seed = "1"] = process.argv.slice(2);
const mebibyte = 1024 * 1024;
/** Some 40 MiB of it are the program and its libraries. */
const mostHeapMebibytes = 256;
/** Mutations between two looks at the memory. */
const ROUND = 5_000;

let accepted = 0;
let heap = 0;
for (let done = 0; done < Number(count); done += ROUND) {
  const result = fuzz(nativeCeremonyCrypto, Math.min(ROUND, Number(count) - done), Number(seed) + done);
  accepted += result.accepted;
  heap = Math.max(heap, process.memoryUsage().heapUsed / mebibyte);
  if (heap > mostHeapMebibytes) throw new Error(`the heap took ${heap} MiB after ${done} mutations`);
}
process.stdout.write(`${count} mutations, ${accepted} accepted, none threw, at most ${Math.round(heap)} MiB of heap\n`);
