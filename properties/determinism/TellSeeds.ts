/** A process of {@link compareProcesses}: tells every moment of the seeds FIRST to LAST, with STEPS each. */
import { writeSync } from "node:fs";
import { tellSeed } from "./Moment.ts";

const ENOUGH = 1 << 16;
const STANDARD_OUTPUT = 1;

const [first = 1, last = 1, steps = 1] = process.argv.slice(2).map(Number);
let text = "";

/** A pipe that is not emptied in time says so, and is tried again. */
const flush = (): void => {
  let left = Buffer.from(text);
  text = "";
  while (left.length > 0)
    try {
      left = left.subarray(writeSync(STANDARD_OUTPUT, left));
    } catch (fault) {
      if (!(fault instanceof Error) || !("code" in fault) || fault.code !== "EAGAIN") throw fault;
    }
};

for (let seed = first; seed <= last; seed++) {
  tellSeed({ seed, steps }, (line) => {
    text += `${line}\n`;
    if (text.length > ENOUGH) flush();
  });
}
flush();
