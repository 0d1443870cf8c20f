/** `npm run sim:marks`: whether each schedule does what it is named for. */
import { isSchedule, scheduleNames } from "../schedules/Schedules.ts";
import { reachedIn } from "../hunting/Reached.ts";
import { Misuse, printLine, runScript, type Script } from "./Script.ts";

const help = `npm run sim:marks -- [--schedule NAME]...

  --schedule NAME  only this schedule; may be given several times

Runs seeds of each schedule from 1 until every mark of it is met: a situation that
it exists to reach, with a number of runs, at least one of which is to meet it.
Ends with 0 when all were met in as many, 1 when not, naming them; 2 on wrong usage.
`;

const options = { schedule: { type: "string", multiple: true } } as const;

const main: Script<typeof options>["main"] = ({ schedule }) => {
  const wanted = (schedule ?? scheduleNames).map((name) => {
    if (!isSchedule(name)) throw new Misuse(`--schedule ${name}: there is no such schedule`);
    return name;
  });
  let missed = 0;
  let marks = 0;
  for (const name of wanted)
    for (const { mark, oneIn, seed } of reachedIn(name)) {
      marks += 1;
      if (seed === undefined) missed += 1;
      printLine(`${name}: ${mark}: ${seed === undefined ? `NOT in seeds 1..${oneIn}` : `seed ${seed} of ${oneIn}`}`);
    }
  printLine(`${marks - missed} of ${marks} marks met`);
  return missed === 0 ? 0 : 1;
};

await runScript({ help, options, main });
