/** What a process tells of the seeds it runs, for comparison with other processes. */
import { messageCodec } from "../../core/Message.ts";
import { rowCodec, type Write } from "../../core/Tables.ts";
import { backendOf } from "../../sim/bin/NativeBackend.ts";
import { Mixer } from "../../sim/base/Mixer.ts";
import type { RunOptions } from "../../sim/run/RunOptions.ts";
import { silent } from "../../sim/world/Silent.ts";
import { runSeed } from "../../sim/run/Simulation.ts";
import type { Tampering } from "../../sim/world/Tampering.ts";

/** Mixes what a row change says. */
export const contentOf = (write: Write, mixer: Mixer): void => {
  mixer.text(write.key);
  if (write.op !== "remove") rowCodec(write.table).write(write.row as never, mixer);
};

/**
 * Runs one seed and tells every moment of it as a line: seed, number, a hash over this moment and all before it,
 * and what happened. Besides the lines of the trace there is one for the content of every message that is sent and
 * of every transaction.
 *
 * @param tell takes each line, without its end
 */
export const tellSeed = (options: RunOptions, tell: (line: string) => void, tampering?: Tampering): void => {
  const rolling = new Mixer();
  const content = new Mixer();
  let moments = 0;
  const line = (what: string): void => {
    rolling.text(what);
    tell(`${options.seed} ${++moments} ${rolling.hash} ${what}`);
  };
  runSeed(options, {
    line,
    tampering,
    backend: backendOf(options.seed),
    observer: {
      ...silent,
      sent: ({ from, to, message }) => {
        messageCodec.write(message, content.reset(0));
        line(`peer ${from} sends to peer ${to}: ${message._tag}, content ${content.hash}`);
      },
      flushing: ({ slot }, writes) => {
        content.reset(0);
        for (const write of writes) contentOf(write, content);
        line(`peer ${slot} writes ${writes.length} rows, content ${content.hash}`);
      },
    },
  });
};
