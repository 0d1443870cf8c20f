/** `custody backup`: all that a running peer stores, as one file; and whether such a file holds. */
import { randomBytes } from "node:crypto";
import { linkSync, rmSync, statSync } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import * as Args from "@effect/cli/Args";
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option } from "effect";
import type { OpenArchive } from "../backup/Archive.ts";
import type { BackupFacts } from "../backup/Manifest.ts";
import { freeBytes, spaceFault } from "../backup/Space.ts";
import { CliFailure, usageFailure } from "./CliFailure.ts";
import { download } from "./Download.ts";
import { jsonLine, printable, printLines } from "./Output.ts";
import { progressBar } from "./ProgressBar.ts";
import { jsonOption, serviceOf, serviceOptions, type ServiceSettings } from "./ServiceOptions.ts";

/** What reads backups, loaded when it is needed: it brings the database's library along. */
const loadBackup = async () => {
  const { openArchive } = await import("../backup/Archive.ts");
  const { judgeArchive, judgeManifest } = await import("../backup/Judge.ts");
  const { compareDigest } = await import("../backup/Unpack.ts");
  const { placeBackup } = await import("../backup/Place.ts");
  const { cryptoBackend } = await import("../crypto/CryptoBackend.ts");
  return { openArchive, judgeArchive, judgeManifest, compareDigest, placeBackup, ...cryptoBackend("native") };
};
export const backupTools = Effect.promise(loadBackup);

/** A fault of a backup: 1 where it does not hold, 2 where nothing was found out. */
export const backupFailure = ({ kind, message }: { readonly kind: string; readonly message: string }): CliFailure =>
  kind === "broken" ? new CliFailure({ kind: "refused", message }) : usageFailure(message);

const time = (millis: number): string => new Date(millis).toISOString();

/** What a backup is, in lines for people. */
export const factLines = (facts: BackupFacts): ReadonlyArray<string> => [
  `peer ${facts.peerId} of ${facts.cluster === undefined ? "no cluster yet" : `cluster ${facts.cluster.clusterId}`}`,
  `made ${time(facts.madeAt)} by custody ${facts.program}`,
  `incarnation ${facts.incarnation}, transaction ${facts.transactions}, batch ${facts.batchNo}, audit row ${facts.auditSeq}`,
  `${facts.approvers} approvers in ${facts.rows} rows, ${facts.bytes} bytes, SHA-256 ${facts.sha256}`,
];

/** The same as a value for scripts. */
export const factValue = (file: string, facts: BackupFacts) => ({ file, ...facts, cluster: facts.cluster ?? null });

const BACKUP_PATH = "/v1/custody/system/backup";
const TAR_TYPE = "application/x-tar";

/** A file of its own beside the one it will be; gone with the scope. */
const partOf = (file: string) =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: async () => {
        const path = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString("hex")}.part`);
        return { path, handle: await open(path, "wx", 0o600) };
      },
      catch: () => usageFailure(`--to: no file can be made in ${dirname(file)}; correct the path or its permissions`),
    }),
    ({ path, handle }) =>
      Effect.promise(async () => {
        await handle.close();
        await rm(path, { force: true });
      }),
  );

const there = (file: string): CliFailure =>
  usageFailure(`--to: ${file} is there already, and no backup is overwritten; name another file`);

/** Gives a finished file its name, if nobody else has taken it. */
const nameIt = (path: string, file: string): Effect.Effect<void, CliFailure> =>
  Effect.tryPromise({
    try: async () => {
      linkSync(path, file);
      rmSync(path);
      const folder = await open(dirname(file), "r");
      await folder.sync().finally(() => folder.close());
    },
    catch: (fault) =>
      fault instanceof Error && "code" in fault && fault.code === "EEXIST"
        ? there(file)
        : usageFailure(`--to: ${file} cannot be made: the folder's file system must know hard links`),
  });

const assertSpace = (file: string, bytes: number): Effect.Effect<void, CliFailure> =>
  Effect.flatMap(spaceFault(dirname(file), bytes, freeBytes), (fault) =>
    fault === undefined
      ? Effect.void
      : usageFailure(`--to: ${file} cannot be written: ${fault}, or name a file on another disk`),
  );

const fetchTo = (file: string, service: ServiceSettings) =>
  Effect.gen(function* () {
    if (statSync(file, { throwIfNoEntry: false }) !== undefined) return yield* there(file);
    const { address } = yield* serviceOf(service, process.env);
    const { path, handle } = yield* partOf(file);
    const { bytes, each } = yield* download(address, { method: "POST", path: BACKUP_PATH, body: {} }, TAR_TYPE);
    if (bytes !== undefined) yield* assertSpace(file, bytes);
    const bar = progressBar("receiving", bytes);
    let received = 0;
    const full = usageFailure(`--to: ${file} cannot be written; check the space on its disk`);
    yield* each(async (piece) => {
      await handle.writeFile(piece);
      bar.tell((received += piece.length));
    }).pipe(
      Effect.catchAllDefect(() => Effect.fail(full)),
      Effect.ensuring(Effect.sync(bar.end)),
    );
    yield* Effect.tryPromise({ try: () => handle.sync(), catch: () => full });
    const { openArchive, judgeManifest, compareDigest, crypto } = yield* backupTools;
    const archive = yield* openArchive(path);
    yield* judgeManifest(file, archive.manifest, crypto);
    yield* compareDigest(archive, () => undefined);
    yield* nameIt(path, file);
    return archive.manifest.facts;
  }).pipe(
    Effect.catchTag("BackupFault", (fault) => Effect.fail(backupFailure(fault))),
    Effect.scoped,
  );

const verifyOptions = {
  file: Args.text({ name: "file" }).pipe(Args.withDescription("The backup.")),
  topology: Options.text("topology").pipe(
    Options.withPseudoName("DIGEST"),
    Options.withDescription(
      "Refuse a backup of another cluster: the digest under `topology` in the status of any member. Without it a backup proves its own consistency only.",
    ),
    Options.optional,
  ),
  scratch: Options.text("scratch").pipe(
    Options.withPseudoName("DIR"),
    Options.withDescription("Where the database is unpacked meanwhile. Default: the backup's folder."),
    Options.optional,
  ),
  json: jsonOption,
};

/** Whether a backup belongs to the cluster that was named. */
export const assertTopology = (
  file: string,
  { cluster }: BackupFacts,
  topology: Option.Option<string>,
): Effect.Effect<void, CliFailure> =>
  Option.isSome(topology) && !/^[0-9a-f]{64}$/.test(topology.value)
    ? usageFailure("--topology is not a digest of 64 hexadecimal characters; take topology.digest of custody status")
    : Option.isNone(topology) || topology.value === cluster?.topologyDigest
      ? Effect.void
      : Effect.fail(
          backupFailure({
            kind: "broken",
            message: `${file}: it is of another cluster: its topology is ${cluster?.topologyDigest ?? "not pinned yet"}`,
          }),
        );

/** An empty folder for this user alone, until the scope closes. */
const scratchIn = (folder: string) =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: () => mkdtemp(join(folder, ".custody-verify-")),
      catch: () => usageFailure(`--scratch: no folder can be made in ${folder}; name another with --scratch`),
    }),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true })),
  );

const judged = (archive: OpenArchive, scratch: string) =>
  Effect.gen(function* () {
    const { judgeArchive, crypto } = yield* backupTools;
    const bar = progressBar("unpacking", archive.manifest.facts.bytes);
    yield* Effect.ensuring(judgeArchive(archive, scratch, crypto, bar.tell), Effect.sync(bar.end));
  });

const verify = Command.make("verify", verifyOptions, ({ file, topology, scratch, json }) =>
  Effect.gen(function* () {
    const { openArchive } = yield* backupTools;
    const archive = yield* openArchive(file);
    const { facts } = archive.manifest;
    yield* assertTopology(file, facts, topology);
    yield* judged(archive, yield* scratchIn(Option.getOrElse(scratch, () => dirname(resolve(file)))));
    if (json) return yield* printLines([jsonLine({ ...factValue(file, facts), unchecked })]);
    const compare = facts.cluster === undefined ? [] : [`topology ${facts.cluster.topologyDigest}`];
    const open = Option.isSome(topology) ? unchecked.slice(1) : unchecked;
    yield* printLines(
      [
        "The backup holds:",
        ...[...factLines(facts), ...compare].map((each) => `  ${each}`),
        "Not checked:",
        ...open.map((each) => `  ${each}`),
      ].map(printable),
    );
  }).pipe(
    Effect.catchTag("BackupFault", (fault) => Effect.fail(backupFailure(fault))),
    Effect.scoped,
  ),
).pipe(
  Command.withDescription(
    "Judge a backup without a peer and without shares: that it is whole, signed by its peer, every row sealed by that peer, audit and batches unbroken. Ends with 0 when it holds, with 1 and the first fault when it does not, with 2 where it cannot be read.",
  ),
);

/** What nobody can tell without more than the file. */
const unchecked: ReadonlyArray<string> = [
  "that this cluster is yours: compare the topology with the status of a member, or give --topology",
  "that unseal shares open it: only an unseal shows it",
  "the digest over all rows, which takes the peer's keys: it is checked at the unseal",
];

const to = Options.text("to").pipe(
  Options.withPseudoName("FILE"),
  Options.withDescription("The file to make, with mode 0600; one that is there is never overwritten."),
  Options.optional,
);

export const backupCommand = Command.make("backup", { to, service: serviceOptions, json: jsonOption }, (given) =>
  Effect.gen(function* () {
    const { service, json } = given;
    if (Option.isNone(given.to)) return yield* usageFailure("--to is missing; name the file to make");
    const file = resolve(given.to.value);
    const facts = yield* fetchTo(file, service);
    if (json) return yield* printLines([jsonLine(factValue(file, facts))]);
    yield* printLines(
      [`Backup in ${file}:`, ...factLines(facts).map((each) => `  ${each}`), "Keep it apart from unseal shares."].map(
        printable,
      ),
    );
  }),
).pipe(
  Command.withDescription(
    "Take a backup of one running, unsealed peer: its whole database at one moment, with a signed manifest, as a tar. Needs the permission service.system.backup. Whoever has the file reads all records and the audit, and with enough unseal shares has the peer's private keys. `--timeout` bounds a silence of the peer once it sends.",
  ),
  Command.withSubcommands([verify]),
);
