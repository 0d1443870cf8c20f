/** docs/operations.md, by an operator of three peers with TLS, from the ceremony to a disk that is lost. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Effect } from "effect";
import { parse } from "yaml";
import { NEWEST } from "../../../core/codec/Versioned.ts";
import { openCopy } from "../../../server/backup/CopyStore.ts";
import { databaseFile } from "../../../server/sqlite/StoreDirectory.ts";
import { registration } from "../../Registration.ts";
import type { Page } from "../Documented.ts";
import { Load } from "../Load.ts";
import { Machines } from "../Machines.ts";
import type { Installed } from "../Package.ts";
import { must } from "../Programs.ts";
import { Sandbox, type World } from "../Sandbox.ts";

export interface OperatorsWorld extends World {
  readonly machines: Machines;
  readonly installed: Installed;
  /** Callers around the time of the backup. */
  readonly load: Load;
  readonly checkout: string;
  readonly folder: string;
  /** Of the peer whose disk is lost, before that. */
  incarnation: number;
  /** Of the first peer of a development cluster. */
  port: number;
}

const FILE = "docs/operations.md";
/** The machine whose peer the page's commands are about. */
const OWN = 1;

/** What the page says that passkeys need. */
const webauthn = (): object => {
  const [, block = ""] =
    /\n\n((?: {4}.*\n)+)/.exec(readFileSync(FILE, "utf8").split("## Enroll passkeys")[1] ?? "") ?? [];
  return parse(block.replaceAll(/^ {4}/gm, ""));
};

export const operatorsWorld = async (installed: Installed, checkout: string, folder: string) => {
  const limits = { "drain-delay": "500ms" };
  const machines = await Machines.prepare(join(folder, "machines"), installed.package, { ...webauthn(), limits });
  const desk = join(folder, "desk");
  mkdirSync(join(folder, "systemd"), { recursive: true });
  mkdirSync(desk, { recursive: true });
  symlinkSync(join(installed.folder, "node_modules"), join(desk, "node_modules"));
  const { url, folder: machine } = machines.of(OWN);
  const sandbox = new Sandbox(
    {
      folder: desk,
      path: join(installed.folder, "node_modules/.bin"),
      env: {
        CUSTODY_URL: url,
        // As if the system knew the authority; --tls-ca does the same for one command.
        NODE_EXTRA_CA_CERTS: join(machines.folder, "tls/ca.pem"),
        OPERATOR: machines.token,
      },
      instead: [
        ["/etc/custody", machine],
        ["/opt/custody", installed.folder],
        ["/etc/systemd/system", join(folder, "systemd")],
        ["https://peer1.example:7300", url],
      ],
    },
    join(folder, "session"),
  );
  const load = new Load(machines, "night");
  return { sandbox, machines, installed, load, checkout, folder, incarnation: 0, port: 0 } satisfies OperatorsWorld;
};

type W = OperatorsWorld;

/** Gives a peer of this cluster for a hole in a command. */
const atPeer = {
  run: (command: string, { machines }: W) => command.replace("…", machines.of(OWN).url),
  because: "`…` is its address",
};
const sharesOf = ({ machines }: W): string =>
  machines
    .of(OWN)
    .shares.map((share) => `${share}\n`)
    .join("");
const isUnsealed = /The peer is unsealed/;

/** Runs a command that the page only names as part of a story. */
const alsoRun = async ({ sandbox }: W, command: string, input?: string): Promise<string> => {
  const { code, stdout, stderr } = await sandbox.run(command, input);
  must(code === 0, `\`${command}\` ended with ${code}: ${stderr}`);
  return stdout;
};

/** Made after the backup that is put back. */
const key = { keyId: "k1", algorithm: "ED25519", authorities: [{ id: "arbitrary" }] };

const startOwn = async ({ machines, installed }: W): Promise<void> => machines.start(OWN, installed);

const ownFile = (what: string) => ({
  run: (command: string, { machines }: W) => command.replace("FILE", machines.of(OWN).config),
  because: `FILE is ${what}`,
});

export const operations: Page<W> = {
  file: FILE,
  entries: [
    { of: "npm ci && npm pack", not: "packed" },
    { of: "npm install --prefix /opt/custody", not: "packed" },
    { of: "export PATH=$PATH:/opt/custody" },
    {
      of: "cp /opt/custody/node_modules/custody/deploy/custody.service",
      after: ({ folder }) => must(existsSync(join(folder, "systemd/custody.service")), "the unit was not copied"),
    },
    { of: "useradd --system", not: "services" },
    { of: "install -dm 700", not: "services" },
    { of: "npm rebuild better-sqlite3", not: "packed" },
    {
      of: "sh /opt/custody/node_modules/custody/deploy/make-tls.sh tls",
      prints: /^tls\/peer3\.example\.pem$/m,
    },
    {
      of: "openssl rand -base64 48",
      after: ({ machines, sandbox }) => {
        machines.share("bootstrap.secret", readFileSync(join(sandbox.folder, "bootstrap.secret")));
        copyFileSync(join(machines.folder, "tls/ca.pem"), join(sandbox.folder, "ca.pem"));
      },
    },
    { of: "custody config check FILE", as: ownFile("peer 1's configuration") },
    {
      of: "custody doctor --config FILE",
      as: ownFile("peer 1's configuration"),
      prints: /^warn +way to peer 2: .*nothing listens there/m,
    },
    {
      of: "export CUSTODY_TOKEN=…",
      as: { run: (command) => command.replace("…", '"$OPERATOR"'), because: "`…` is a token" },
    },
    {
      of: "custody init --url https://peer1.example:7300",
      before: async ({ machines, installed }) => {
        for (const id of machines.ids) await machines.start(id, installed);
      },
      prints: /its 5 unseal shares; any 3 of them/i,
      after: async ({ machines }, printed) => {
        machines.of(OWN).shares = [...printed.matchAll(/^ {2}share \d+: (\S+)$/gm)].map(([, share = ""]) => share);
        for (const id of machines.ids) if (id !== OWN) await machines.initialize(id);
      },
    },
    { of: "age -d -i key.txt share.age", not: "age" },
    {
      of: "custody unseal --url https://peer1.example:7300",
      input: sharesOf,
      prints: isUnsealed,
      after: async ({ machines }) => {
        for (const id of machines.ids) if (id !== OWN) await machines.unseal(id);
        await machines.ready(...machines.ids);
      },
    },
    {
      of: "custody status --all",
      as: { run: (command, { machines }) => command.replace("…", machines.of(2).url), because: "`…` is peer 2" },
      prints: /(?=[^]*\b1\b)(?=[^]*\b2\b)/,
    },
    { of: "custody status", prints: /epoch.*1/i },
    {
      of: "custody init --join …",
      as: { run: () => "custody init --help", because: "a promotion is tried over HTTP, in properties/http" },
      prints: /--join/,
    },
    {
      of: "custody promote --config plan.yaml --dry-run --url …",
      as: atPeer,
      before: ({ sandbox, machines }) => {
        const targets = machines.ids.flatMap((id) =>
          id === OWN
            ? []
            : [`  - {peer-id: ${id}, url: "${machines.of(id).peerUrl}", identity-key: "${String(id).repeat(64)}"}`],
        );
        const lines = ["threshold: 2", `total: ${machines.ids.length}`, "targets:", ...targets, ""];
        writeFileSync(join(sandbox.folder, "plan.yaml"), lines.join("\n"));
      },
      code: 1,
      prints: /only an instance that is alone can be promoted/,
    },
    { of: "custody promote status --wait", code: 1, prints: /neither the source nor a target of a promotion/ },
    {
      of: "custody rekey --start --url …",
      as: atPeer,
      after: async (world) => void (await alsoRun(world, "custody rekey --reset")),
    },
    {
      of: "custody approvers invite --id alice --origin https://custody.example.com",
      prints: /https:\/\/custody\.example\.com\/enroll#\S{40,}/,
    },
    {
      of: "custody server --config /etc/custody/peer.yaml",
      before: ({ machines }) => machines.stop(OWN),
      beside: /"event":"listening"/,
      after: async ({ machines }) => {
        await machines.unseal(OWN);
        await machines.ready(...machines.ids);
      },
    },
    {
      of: "custody seal",
      after: async ({ machines }) => {
        await machines.unseal(OWN);
        await machines.ready(...machines.ids);
      },
    },
    {
      of: "custody doctor",
      as: {
        run: (command, { machines }) =>
          `${command} ${machines.ids.map((id) => `--service ${machines.of(id).url}`).join(" ")}`,
        because: "it is told the peers' addresses",
      },
    },
    { of: "custody metrics", prints: /custody_operator_calls_total/ },
    {
      of: "custody audit export",
      as: { run: (command) => `${command} --out audit.jsonl`, because: "into a file" },
    },
    {
      of: "custody audit verify FILE",
      as: { run: (command) => command.replace("FILE", "audit.jsonl"), because: "FILE is what `audit export` wrote" },
    },
    {
      of: "custody backup --url …",
      as: atPeer,
      before: async ({ load }) => {
        load.start();
        await load.more({ registered: 4 });
      },
      after: ({ load }) => load.more({ registered: 4 }),
    },
    {
      of: "custody backup verify peer1-….tar",
      as: { run: (command) => command.replace("…", "*"), because: "`…` is the day" },
      after: async (world) => void (await alsoRun(world, "mv peer1-*.tar peer1.tar")),
    },
    {
      of: "custody restore --from peer1.tar",
      before: async (world) => {
        const { load, machines, sandbox } = world;
        await load.stop();
        const made = await machines.ask(OWN, "keys", key);
        must(made.status === 201, `a key that no backup has was answered ${made.status}`);
        world.incarnation = (await machines.detail(OWN)).incarnation;
        await sandbox.close("SIGKILL");
        renameSync(machines.of(OWN).dataDir, `${machines.of(OWN).dataDir}.lost`);
        mkdirSync(machines.of(OWN).dataDir, { mode: 0o700 });
        const { status } = await machines.ask(2, "approvers", registration("without-it"));
        must(status === 503, `a change without peer ${OWN} was answered ${status}`);
        const foreign = `custody restore --from peer1.tar --config ${machines.of(2).config}`;
        const { code, stderr } = await sandbox.run(foreign);
        must(code === 1 && stderr.includes(`a backup of peer ${OWN}`), `peer 2 took a backup of peer 1: ${stderr}`);
      },
      after: async (world) => {
        const file = join(world.machines.of(OWN).dataDir, "custody.db");
        must((statSync(file).mode & 0o777) === 0o600, "the restored database is open to others");
        await startOwn(world);
      },
    },
    {
      of: "custody unseal --url …",
      as: atPeer,
      input: sharesOf,
      prints: isUnsealed,
      after: async ({ machines, load, incarnation }) => {
        await machines.ready(...machines.ids);
        must(
          (await machines.detail(OWN)).incarnation > incarnation,
          "the restored peer goes on in its old incarnation",
        );
        must(machines.saidBy(OWN).includes("a restore is declared"), "the peer did not declare its restore by itself");
        await load.verify();
      },
    },
    {
      of: "custody restore --url …",
      as: atPeer,
      after: ({ machines }) => machines.ready(...machines.ids),
    },
    { of: "custody keys repair k1", as: atPeer, prints: /^Repaired: k1, generations 1; refresh the key now$/m },
    { of: "custody rotate-integrity --url …", as: atPeer },
  ],
};

/** Ends the peers, and compares what is on their disks. */
export const endOperations = async ({ machines, load }: W, say: (line: string) => void): Promise<void> => {
  await machines.settled();
  const kept = await load.verify();
  await machines.stopAll();
  const ends = await machines.ends(NEWEST);
  const files = machines.ids.map((id) => databaseFile(machines.of(id).dataDir));
  const marks = await Promise.all(
    files.map((file) => Effect.runPromise(Effect.scoped(Effect.map(openCopy(file), ({ isMarked }) => isMarked)))),
  );
  must(!marks.includes(true), "the restored database still bears its mark");
  must(new Set(ends.map(({ root }) => root)).size === 1, "the roots differ after the restore");
  say(`a lost disk came back from its backup: ${kept} approvers of that night on all peers, one root`);
};
