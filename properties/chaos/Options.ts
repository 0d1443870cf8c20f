/** The command line of `npm run chaos`. */
import { parseArgs } from "node:util";
import { Either } from "effect";
import { type Plant, plantNames } from "./Plants.ts";

/** How many peers there are in the end, and whether one is alone at first, and then promoted to a cluster with them. */
export interface ClusterOrder {
  readonly peers: number;
  readonly isAlone: boolean;
}

export interface ChaosOptions {
  readonly seed: number;
  readonly minutes: number;
  readonly clusters: ReadonlyArray<ClusterOrder>;
  readonly callers: number;
  /** Approvers that are registered before anything is done to the peers. */
  readonly rows: number;
  /** Whether both ports of every peer speak TLS. */
  readonly tls: boolean;
  /** Whether peers say the secrets of keys aloud. */
  readonly isLeaking: boolean;
  /** What peers do wrong in a promotion, for a judge that must find it. */
  readonly planted: Plant | undefined;
  readonly json: boolean;
  readonly help: boolean;
  readonly planOnly: boolean;
}

export const helpText = `npm run chaos -- [OPTION]...

Real peer processes with real SQLite and TLS under kill -9, SIGSTOP, cut, slow and
lying connections, failing flushes, a full disk, moved clocks, old disks, backups cut
short and restored, strangers at both ports and more callers than there is room for.
Then everything is healed, must come to rest, and is held against the invariants that
the simulator checks, by the same code (docs/chaos.md).

Every five seconds each peer collects its garbage and writes down what it holds. Of a
process that lived for 90 s, the least that it held in the last quarter of that time, the
first 30 s left out, must be no more than 32 MiB above that in the first quarter, and what
was resident no more than 192 MiB. Once every kind of fault has come, one peer's process
is spared: with --minutes 10 it is watched for minutes.

  --seed N        the plan of faults; the same number gives the same plan.
                  Default: drawn, and printed
  --minutes N     how long callers and faults go on, shared among the clusters; a
                  promotion counts up to two thirds of a share: 0.2 to 600. Default: 5
  --peers N,1-N   the clusters, one after the other, 2 to 9 peers each; after 1- one peer
                  is alone, is promoted while each process ends at each of its steps,
                  and the faults come then. Default: 3,5
  --callers N     callers at once, 1 to 512. Default: 8
  --rows N        approvers to register before the first fault, 0 to 100000. Default: 0.
                  Before a promotion there are 40 at least; for a tenth of them, 1000 at
                  most, passkeys are enrolled, up to 160 of which stay open for 10
                  minutes; and a tenth have their metadata replaced, 1 to 5 times
  --plain         no TLS; without it both ports of every peer have it
  --leak          peers write every secret of keys to their logs, to see that it is found
  --plant NAME    a fault in promoting, to see that it is found: targets accept and do not
                  store that (forget), show records as if never replaced (stale), or
                  the source lets invitations outlive the epoch (outlive)
  --plan          print the plan of faults and end
  --json          the result as one line of JSON
  --help          this text

Exit codes: 0 nothing was violated, 1 something was (databases and logs are kept),
2 wrong usage, 3 the peers could not be run.`;

const options = {
  seed: { type: "string" },
  minutes: { type: "string" },
  peers: { type: "string" },
  callers: { type: "string" },
  rows: { type: "string" },
  plain: { type: "boolean" },
  leak: { type: "boolean" },
  plant: { type: "string" },
  plan: { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

const numberFrom = (text: string, least: number, most: number, isWhole: boolean): number | undefined => {
  const pattern = isWhole ? /^[0-9]{1,12}$/ : /^[0-9]{1,6}(\.[0-9]{1,3})?$/;
  const value = Number(text);
  return pattern.test(text) && value >= least && value <= most ? value : undefined;
};

const clusterFrom = (text: string): ClusterOrder | undefined => {
  const isAlone = text.startsWith("1-");
  const peers = numberFrom(isAlone ? text.slice(2) : text, 2, 9, true);
  return peers === undefined ? undefined : { peers, isAlone };
};

const parsed = (args: ReadonlyArray<string>) => {
  try {
    return Either.right(parseArgs({ args: [...args], options }).values);
  } catch (fault) {
    return Either.left(fault instanceof Error ? fault.message : "the arguments cannot be read");
  }
};

/**
 * Reads the arguments. Left says what is wrong with them.
 *
 * @param draw a seed, where none is given
 */
export const parseOptions = (args: ReadonlyArray<string>, draw: () => number): Either.Either<ChaosOptions, string> =>
  Either.flatMap(parsed(args), (values) => {
    const seed = values.seed === undefined ? draw() : numberFrom(values.seed, 0, 2 ** 31, true);
    if (seed === undefined) return Either.left("--seed: give a whole number from 0 to 2147483648");
    const minutes = numberFrom(values.minutes ?? "5", 0.2, 600, false);
    if (minutes === undefined) return Either.left("--minutes: give a number from 0.2 to 600");
    const callers = numberFrom(values.callers ?? "8", 1, 512, true);
    if (callers === undefined) return Either.left("--callers: give a whole number from 1 to 512");
    const rows = numberFrom(values.rows ?? "0", 0, 100_000, true);
    if (rows === undefined) return Either.left("--rows: give a whole number from 0 to 100000");
    const planted = plantNames.find((each) => each === values.plant);
    if (planted !== values.plant) return Either.left(`--plant: give one of ${plantNames.join(", ")}`);
    const clusters = (values.peers ?? "3,5").split(",").map(clusterFrom);
    const known = clusters.filter((each) => each !== undefined);
    if (known.length !== clusters.length)
      return Either.left(
        "--peers: give numbers from 2 to 9, with 1- before those that one is promoted to, such as 3,1-5",
      );
    return Either.right({
      seed,
      minutes,
      callers,
      rows,
      tls: values.plain !== true,
      isLeaking: values.leak === true,
      planted,
      clusters: known,
      json: values.json === true,
      help: values.help === true,
      planOnly: values.plan === true,
    });
  });
