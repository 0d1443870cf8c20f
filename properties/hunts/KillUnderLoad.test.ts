/**
 * Three real peers under 64 concurrent registrations; a member, then the writer, is killed with SIGKILL and started
 * again. Records answered 201 or 200 are on all three, byte for byte, and nothing is on some only.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readTables } from "../chaos/FinalStore.ts";
import { type Answered, call as httpCall } from "../chaos/HttpCall.ts";
import { type DevCluster, startDevCluster } from "../cli/DevCluster.ts";
import { registration } from "../Registration.ts";

const CALLERS = 64;
const EACH = 3;
/** Answers after which the victim is killed: by then every caller has something under way. */
const BEFORE_THE_KILL = 100;
const patience = 240_000;

let folder: string;
let cluster: DevCluster;
const confirmed: Array<string> = [];
const agent = new Agent({ keepAlive: true, maxSockets: CALLERS });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "custody-kill-"));
  cluster = await startDevCluster("source", folder, "--peers", "3", "--port", "0");
}, patience);
afterAll(async () => {
  agent.destroy();
  await cluster.running.stop();
  rmSync(folder, { recursive: true, force: true });
}, patience);

/** Status 0: the peer went away before it answered. */
const call = (origin: string, path: string, body?: object): Promise<Answered> =>
  httpCall(agent, origin, path, {
    token: cluster.ready.token,
    body: body && Buffer.from(JSON.stringify(body)),
  });

const refIn = (text: string): string => {
  const record: { readonly ref: string } = JSON.parse(text);
  return record.ref;
};

const isReady = async (origin: string): Promise<boolean> =>
  (await call(origin, "/v1/custody/system/ready")).status === 200;

/** Proposals that are not applied or aborted everywhere yet. */
const openBusiness = async (origin: string): Promise<number> => {
  const { text } = await call(origin, "/v1/custody/system/status");
  const { detail }: { readonly detail: { readonly [what in "outbox" | "uncommitted" | "locks"]: number } } =
    JSON.parse(text);
  return detail.outbox + detail.uncommitted + detail.locks;
};

/** Asks until the answer is yes; the test's own time limit ends it. */
const until = async (question: () => Promise<boolean>): Promise<void> => {
  while (!(await question())) await new Promise((resolve) => void setTimeout(resolve, 50));
};

/** The approvers in a peer's own database. */
const approversOf = async (peerId: number): Promise<ReadonlyMap<string, string>> => {
  const directory = join(cluster.ready.dataDir, `peer-${peerId}`, "data");
  const approvers = (await Effect.runPromise(readTables(directory))).get("approvers") ?? new Map();
  return new Map([...approvers].map(([key, { row }]) => [key, Buffer.from(row).toString("hex")]));
};

const VICTIMS = [3, 1];

for (const victim of VICTIMS)
  it(
    `keeps every registration answered with success, and leaves nothing undecided, when peer ${victim} is killed under load`,
    async () => {
      const { peers } = cluster.ready;
      const killed = peers.find((each) => each.id === victim);
      if (killed === undefined) throw new Error("there are three peers");
      let answers = 0;
      let isKilled = false;
      const caller = async (index: number): Promise<void> => {
        for (let round = 0; round < EACH; round++) {
          const through = peers[(index + round) % peers.length] ?? killed;
          const { status, text } = await call(
            through.url,
            "/v1/custody/approvers",
            registration(`k${victim}-${index}-${round}`),
          );
          answers += 1;
          // 200: the answer was lost between two peers, and the approver stood when it was asked for again.
          if (status === 201 || status === 200) confirmed.push(refIn(text));
          expect([201, 200, 503, 0]).toContain(status);
          if (answers >= BEFORE_THE_KILL && !isKilled) {
            isKilled = true;
            process.kill(killed.pid, "SIGKILL");
            // While the callers go on: none of them has to wait until an answer is out of time.
            spawn("sh", ["-c", killed.restart], { stdio: "ignore" });
          }
        }
      };
      await Promise.all(Array.from({ length: CALLERS }, (_, index) => caller(index)));
      expect(isKilled).toBe(true);
      for (const { url } of peers) await until(() => isReady(url));
      for (const { url } of peers) await until(async () => (await openBusiness(url)) === 0);
      const answered = await call(killed.url, "/v1/custody/approvers", registration(`after-${victim}`));
      expect(answered.status).toBe(201);
      confirmed.push(refIn(answered.text));
    },
    patience,
  );

it(
  "has the same registry on all three, byte for byte, with everything that was answered 201 in it",
  async () => {
    const sample = confirmed.filter((_, index) => index % 10 === 0);
    for (const ref of sample) {
      const reads = await Promise.all(
        cluster.ready.peers.map(({ url }) => call(url, `/v1/custody/approvers/${encodeURIComponent(ref)}`)),
      );
      expect(new Set(reads.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(reads[0]?.status).toBe(200);
    }
    await cluster.running.stop();
    const [first, second, third] = await Promise.all([approversOf(1), approversOf(2), approversOf(3)]);
    expect(second).toEqual(first);
    expect(third).toEqual(first);
    for (const ref of confirmed) expect(first.has(ref)).toBe(true);
    expect(confirmed.length).toBeGreaterThan(VICTIMS.length * (BEFORE_THE_KILL - CALLERS));
  },
  patience,
);
