/** `custody doctor`: everything that can be looked at from here, a line each. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option } from "effect";
import { clusterFindings } from "../doctor/ClusterFindings.ts";
import type { Finding } from "../doctor/Finding.ts";
import { machineFindings, nodeFinding } from "../doctor/Machine.ts";
import { CliFailure, usageFailure } from "./CliFailure.ts";
import { jsonLine, printable, printLines } from "./Output.ts";
import { peerListOptions, peersOf } from "./PeerList.ts";
import { peerStatuses } from "./PeerStatus.ts";
import { peerEnvironment } from "./ServerCommand.ts";
import { connectionOptions, jsonOption } from "./ServiceOptions.ts";

const options = {
  config: Options.text("config").pipe(
    Options.withPseudoName("FILE"),
    Options.withDescription("The configuration of the peer on this machine; run this as the peer's user."),
    Options.optional,
    Options.map(Option.getOrUndefined),
  ),
  peers: peerListOptions,
  connection: connectionOptions,
  json: jsonOption,
};

const lineOf = ({ check, level, message }: Finding): string => `${level.padEnd(4)}  ${check}: ${message}`;

export const doctorCommand = Command.make("doctor", options, ({ config, peers, connection, json }) =>
  Effect.gen(function* () {
    const asksPeers = peers.services.length > 0 || peers.data !== undefined;
    if (config === undefined && !asksPeers)
      return yield* usageFailure(
        "there is nothing to look at; give --config FILE, --service URL for every peer, or both",
      );
    const services = asksPeers ? yield* peersOf(peers, connection, process.env) : [];
    const machine =
      config === undefined
        ? { findings: [], digest: undefined }
        : yield* Effect.promise(() => machineFindings(config, peerEnvironment(process.env)));
    const statuses = yield* peerStatuses(services, () => Date.now());
    const findings = [
      nodeFinding(process.versions.node),
      ...machine.findings,
      ...clusterFindings(statuses, machine.digest),
    ];
    const failed = findings.filter(({ level }) => level === "fail").length;
    yield* printLines(
      json ? [jsonLine({ ok: failed === 0, checks: findings })] : findings.map((each) => printable(lineOf(each))),
    );
    if (failed > 0)
      return yield* new CliFailure({
        kind: "refused",
        message: `${failed} of ${findings.length} checks failed`,
        hint: "each line above says what to do",
      });
  }).pipe(Effect.scoped),
).pipe(
  Command.withDescription(
    "Look at a peer's machine (--config: configuration, certificates, ports, disk, token keys, the way to the other peers and their clocks) and at a whole cluster (--service or --data: readiness, clocks, flushes, versions, shared configuration). A line each: ok, warn or fail, with what to do. Ends with 0, also with warnings; with 1 when something failed.",
  ),
);
