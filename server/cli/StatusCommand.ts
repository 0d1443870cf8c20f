/** `custody status`: one peer in full, or all peers in a table. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option, Schedule } from "effect";
import { readStatusAnswer } from "./Answers.ts";
import { CliFailure, usageFailure } from "./CliFailure.ts";
import { durationOption } from "./DurationOption.ts";
import { isUnread, jsonLine, printable, printLines, printResult } from "./Output.ts";
import { peerListOptions, peersOf } from "./PeerList.ts";
import { type PeerStatus, peerStatuses, STATUS_PATH } from "./PeerStatus.ts";
import { jsonOption, serviceOf, serviceOptions } from "./ServiceOptions.ts";
import { tableLines } from "./Table.ts";

const heading = [
  "PEER",
  "URL",
  "STATE",
  "READY",
  "UNDECIDED",
  "LOCKS",
  "OUTBOX",
  "EPOCH",
  "INCARNATION",
  "CLOCK",
  "FLUSH",
];

const NOT_KNOWN = "-";
const shown = (value: number | string | null): string => (value === null ? NOT_KNOWN : String(value));
const signed = (millis: number): string => `${millis > 0 ? "+" : ""}${millis} ms`;

const rowOf = (peer: PeerStatus): ReadonlyArray<string> => [
  shown(peer.peerId),
  peer.url,
  shown(peer.state),
  peer.ready ? "yes" : "no",
  shown(peer.undecided),
  shown(peer.locks),
  shown(peer.outbox),
  shown(peer.epoch),
  shown(peer.incarnation),
  peer.clockMillis === null ? NOT_KNOWN : signed(peer.clockMillis),
  peer.flushMillis === null ? NOT_KNOWN : `${peer.flushMillis.median} ms`,
];

const nameOf = ({ peerId, url }: PeerStatus): string => (peerId === null ? url : `peer ${peerId}`);

const linesOf = (peers: ReadonlyArray<PeerStatus>): ReadonlyArray<string> => [
  ...tableLines(heading, peers.map(rowOf)),
  ...peers
    .flatMap((peer) => [
      ...(peer.reason === null ? [] : [`${nameOf(peer)} is not ready: ${peer.reason}`]),
      ...(peer.next === null ? [] : [`  next: ${peer.next}`]),
      ...(peer.state !== null && peer.peerId === null && peer.state !== "UNINITIALIZED"
        ? [`${nameOf(peer)} shows no more: the token lacks service.control.system, or there is none`]
        : []),
      ...peer.warnings.map((warning) => `${nameOf(peer)} warns: ${warning}`),
    ])
    .map(printable),
];

const notReady = (peers: ReadonlyArray<PeerStatus>): CliFailure | undefined => {
  const count = peers.filter(({ ready }) => !ready).length;
  if (count === 0) return undefined;
  const message = `${count} of ${peers.length} peers ${count === 1 ? "is" : "are"} not ready`;
  return new CliFailure({
    kind: "refused",
    message,
    hint: 'docs/operations.md, "Reasons given for a member", says what each means',
  });
};

const options = {
  all: Options.boolean("all").pipe(Options.withDescription("Show all peers in a table, those out of reach too.")),
  peers: peerListOptions,
  watchMillis: durationOption("watch", [1000, 3_600_000], "1s to 1h").pipe(
    Options.withDescription("With --all: show the table again and again, so long apart, until interrupted."),
    Options.optional,
    Options.map(Option.getOrUndefined),
  ),
  service: serviceOptions,
  json: jsonOption,
};

export const statusCommand = Command.make("status", options, ({ all, peers, watchMillis, service, json }) =>
  Effect.gen(function* () {
    if (!all) {
      if (peers.services.length > 0 || peers.data !== undefined || watchMillis !== undefined)
        return yield* usageFailure("--service, --data and --watch belong to --all");
      const { call } = yield* serviceOf(service, process.env);
      const { body } = yield* call({ method: "GET", path: STATUS_PATH });
      yield* readStatusAnswer(body);
      return yield* printResult({ json, value: body });
    }
    if (service.url !== undefined)
      return yield* usageFailure("--url names one peer; with --all give --service for every peer");
    const services = yield* peersOf(peers, service, process.env);
    const show = Effect.gen(function* () {
      const found = yield* peerStatuses(services, () => Date.now());
      const failure = notReady(found);
      const time = new Date().toISOString();
      const above = watchMillis === undefined ? [] : ["", time];
      yield* printLines(
        json ? [jsonLine({ time, ready: failure === undefined, peers: found })] : [...above, ...linesOf(found)],
      );
      return failure;
    });
    if (watchMillis !== undefined) {
      const again = Schedule.whileOutput(Schedule.spaced(watchMillis), () => !isUnread());
      yield* Effect.repeat(show, again);
      return;
    }
    const failure = yield* show;
    if (failure !== undefined) return yield* failure;
  }).pipe(Effect.scoped),
).pipe(
  Command.withDescription(
    "Show the state of one peer, or with --all of every peer: clocks are compared with the median of all, FLUSH is the median of the latest. Details with the permission service.control.system. With --all it ends with 0 when all peers are ready, with 1 otherwise.",
  ),
);
