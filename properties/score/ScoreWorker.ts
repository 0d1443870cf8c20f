/** A process of the score: runs seeds of the default mix with one mutant at work, or with none. */
import { serialize } from "node:v8";
import { messageCodec } from "../../core/Message.ts";
import { Mixer } from "../../sim/base/Mixer.ts";
import { Interruption } from "../../sim/run/Interruption.ts";
import { runSeed } from "../../sim/run/Simulation.ts";
import { backendOf } from "../../sim/bin/NativeBackend.ts";
import type { Observed, Observer } from "../../sim/world/Observer.ts";
import { silent } from "../../sim/world/Silent.ts";
import { contentOf } from "../determinism/Moment.ts";
import { ENDLESS, type Ran, type Task, type Word } from "./Tasks.ts";
import { isRecording, takeReached } from "./Switch.ts";

class TooLong extends Interruption {
  override readonly name = "TooLong";
}

const run = ({ seed, mostEvents }: Task): Omit<Ran, "reached"> => {
  let world: Observed | undefined;
  const contents = new Mixer();
  const observer: Observer = {
    ...silent,
    sent: ({ message }) => messageCodec.write(message, contents),
    flushing: (_, writes) => {
      for (const write of writes) contentOf(write, contents);
    },
    replied: (slot, requestId, answer) => contents.bytes(serialize([slot, requestId, answer])),
    began: (observed: Observed) => {
      world = observed;
    },
    ticked: () => {
      if (world !== undefined && world.events > mostEvents) throw new TooLong();
    },
  };
  try {
    const { events, hash, violation } = runSeed({ seed }, { backend: backendOf(seed), observer });
    return { seed, events, broke: violation?.id, course: hash + contents.hash };
  } catch (fault) {
    if (!(fault instanceof TooLong)) throw fault;
    return { seed, events: mostEvents, broke: ENDLESS, course: ENDLESS };
  }
};

const say = (word: Word): void => void process.send?.(word);

process.once("message", (tasks: ReadonlyArray<Task>) => {
  for (const task of tasks) {
    const ran = { ...run(task), reached: takeReached() };
    say({ ran });
    // Without a mutant nothing is looked for, and every seed is wanted.
    if (ran.broke !== undefined && !isRecording) break;
  }
  process.disconnect();
});
say({ loaded: takeReached() });
