/** `custody restore`: a backup put back into a data folder, and the declaration that a peer runs on an old disk. */
import { resolve } from "node:path";
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option } from "effect";
import type { BackupFacts } from "../backup/Manifest.ts";
import { loadConfig } from "../config/ConfigFile.ts";
import { readRestoreAnswer } from "./Answers.ts";
import { assertTopology, backupFailure, backupTools, factLines, factValue } from "./BackupCommand.ts";
import { CliFailure, usageFailure } from "./CliFailure.ts";
import { jsonLine, printable, printLines, printResult } from "./Output.ts";
import { progressBar } from "./ProgressBar.ts";
import { peerEnvironment } from "./ServerCommand.ts";
import { jsonOption, serviceOf, serviceOptions, type ServiceSettings } from "./ServiceOptions.ts";

const optional = (name: string, pseudoName: string, description: string) =>
  Options.text(name).pipe(
    Options.withPseudoName(pseudoName),
    Options.withDescription(description),
    Options.optional,
    Options.map(Option.getOrUndefined),
  );

const placing = {
  from: optional(
    "from",
    "FILE",
    "Put this backup into a data folder of this machine, in which no peer runs; no service is called.",
  ),
  data: optional("data", "DIR", "With --from: the peer's data folder, empty or not there yet."),
  config: optional(
    "config",
    "FILE",
    "With --from, instead of --data: the peer's configuration, whose data folder is taken; a backup of another peer is refused.",
  ),
  topology: optional(
    "topology",
    "DIGEST",
    "With --from: refuse a backup of another cluster; the digest is under `topology` in the status of any member.",
  ),
};

interface Placing {
  readonly from: string | undefined;
  readonly data: string | undefined;
  readonly config: string | undefined;
  readonly topology: string | undefined;
}

/** The data folder of a configuration, if the backup's peer can be the one that it configures. */
const configured = (config: string, { peerId }: BackupFacts): Effect.Effect<string, CliFailure> =>
  Effect.gen(function* () {
    const { peer, cluster } = yield* Effect.mapError(loadConfig(config, peerEnvironment(process.env)), ({ message }) =>
      usageFailure(message),
    );
    const isOther = peer.id !== undefined && peer.id !== peerId;
    if (isOther || cluster.peers.some(({ id }) => id === peerId))
      return yield* new CliFailure({
        kind: "refused",
        message: `--from: it is a backup of peer ${peerId}, and ${config} is the configuration of ${isOther ? `peer ${peer.id}` : "another peer, which lists that one"}`,
      });
    return peer.dataDir;
  });

/** What the peer does about the time since its backup, and what is left to its operator. */
const sinceThen = ({ cluster }: BackupFacts, members: number): string =>
  members === 1
    ? "It is of a cluster of one, which has only what the backup has: register again what came later. If it was promoted since, its peers show it that; declare the restore then."
    : cluster === undefined
      ? "It is from before the founding: the peer declares the restore by itself as soon as it has its cluster."
      : "It declares the restore by itself, and takes the registry from the other members.";

const place = (from: string, { data, config, topology }: Placing, json: boolean) =>
  Effect.gen(function* () {
    if ((data === undefined) === (config === undefined))
      return yield* usageFailure("--from needs either --data or --config");
    const { openArchive, judgeManifest, placeBackup, crypto } = yield* backupTools;
    const archive = yield* openArchive(from);
    const { facts } = archive.manifest;
    yield* judgeManifest(from, archive.manifest, crypto);
    yield* assertTopology(from, facts, Option.fromNullable(topology));
    const directory = resolve(data ?? (yield* configured(config ?? "", facts)));
    const bar = progressBar("restoring", facts.bytes);
    const members = yield* Effect.ensuring(placeBackup(archive, directory, crypto, bar.tell), Effect.sync(bar.end));
    if (json) return yield* printLines([jsonLine({ ...factValue(from, facts), dataDir: directory })]);
    yield* printLines(
      [
        `The backup is in ${directory}:`,
        ...factLines(facts).map((each) => `  ${each}`),
        "Now start the peer and unseal it with the shares of that time.",
        sinceThen(facts, members),
      ].map(printable),
    );
  }).pipe(
    Effect.catchTag("BackupFault", (fault) => Effect.fail(backupFailure(fault))),
    Effect.scoped,
  );

const declare = (service: ServiceSettings, json: boolean) =>
  Effect.gen(function* () {
    const { call } = yield* serviceOf(service, process.env);
    const { body } = yield* call({
      method: "POST",
      path: "/v1/custody/system/restore",
      body: {},
      lookFirst:
        "look at incarnation and recovering in custody status before you repeat it: declared twice, it may begin twice",
    });
    if (json) return yield* printResult({ json, value: body });
    const { state } = yield* readRestoreAnswer(body);
    yield* printLines(
      state === "SEALED"
        ? [
            "The restore is declared. It begins when the peer is unsealed; if it is restarted before that, declare it again.",
          ]
        : [
            "The restore has begun. `custody status` shows under `recovering` what it waits for; changes wait for its end.",
          ],
    );
  }).pipe(Effect.scoped);

const restoreOptions = { placing: Options.all(placing), service: serviceOptions, json: jsonOption };

export const restoreCommand = Command.make("restore", restoreOptions, ({ placing: given, service, json }) =>
  Effect.gen(function* () {
    const { from, data, config, topology } = given;
    if (from !== undefined) return yield* place(from, given, json);
    if (data !== undefined || config !== undefined || topology !== undefined)
      return yield* usageFailure("--data, --config and --topology belong to --from");
    yield* declare(service, json);
  }),
).pipe(
  Command.withDescription(
    "Put a backup back (--from), or declare at a running peer that its disk is an older one. With --from, all of it is checked before anything is touched, and the peer, unless it is a cluster of one, declares the restore by itself when it is started. Without, the peer takes the registry from the other members. Best before unsealing it.",
  ),
);
