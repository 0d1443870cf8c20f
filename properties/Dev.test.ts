/** `custody dev` from the outside: three real processes, one of them killed and brought back, and nothing left behind. */
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runCustody } from "./cli/CustodyProcess.ts";
import { type DevCluster, isAlive, readReady, startDevCluster } from "./cli/DevCluster.ts";
import { registration } from "./Registration.ts";

/** Starting a cluster takes seconds of processor time, which other tests may be using too. */
const patience = 180_000;

let folder: string;
let cluster: DevCluster;
let stopping: () => Promise<unknown> = () => Promise.resolve();

const start = async (...more: ReadonlyArray<string>): Promise<void> => {
  cluster = await startDevCluster("source", folder, ...more);
  stopping = () => cluster.running.stop();
};

beforeAll(async () => {
  // A space and a quote: what is printed for a shell must survive both.
  folder = mkdtempSync(join(tmpdir(), "custody dev's-"));
  await start("--peers", "3", "--port", "0");
}, patience);
afterAll(async () => {
  await stopping();
  rmSync(folder, { recursive: true, force: true });
});

const peer = (id: number) => {
  const found = cluster.ready.peers.find((each) => each.id === id);
  if (found === undefined) throw new Error(`no peer ${id}`);
  return found;
};

const call = async (id: number, path: string, body?: unknown) => {
  const response = await fetch(`${peer(id).url}${path}`, {
    headers: { "x-jwt-token": cluster.ready.token, "content-type": "application/json" },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
};

/** Contract 2.2, computed by hand. */
const refOf = ({ id, credential }: ReturnType<typeof registration>): string => {
  const json = `{"algorithm":"ED25519","publicKey64":"${credential.publicKey64}","type":"SIGNATURE","version":1}`;
  return `${id}@sha256:${createHash("sha256").update(`SERVICE_APPROVER_V1\0${json}`).digest("hex")}`;
};

const isReady = async (id: number): Promise<boolean> =>
  fetch(`${peer(id).url}/v1/custody/system/ready`).then(
    ({ status }) => status === 200,
    () => false,
  );

/** Asks until the answer is yes; the test's own time limit ends it. */
const until = async (question: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await question())) await new Promise((resolve) => void setImmediate(resolve));
};

it("keeps its secrets to this user", () => {
  const mode = (path: string): number => statSync(path).mode & 0o777;
  const secrets = join(cluster.ready.dataDir, "dev-secrets");
  expect([mode(cluster.readyFile), mode(cluster.ready.dataDir), mode(secrets)]).toEqual([0o600, 0o700, 0o700]);
  for (const name of ["bootstrap", "operator.header", "peer-1.shares.json", "issuer/issuer-key.json"]) {
    expect(mode(join(secrets, name))).toBe(0o600);
  }
  for (const { restart } of cluster.ready.peers) expect(restart).not.toContain(cluster.ready.token);
});

it("prints three curl commands that work when pasted, twice", () => {
  const commands = cluster.running.text.match(/^curl .*$/gm) ?? [];
  expect(commands).toHaveLength(3);
  const paste = (command: string): string =>
    execFileSync("sh", ["-c", `${command} -w ' %{http_code}'`], { encoding: "utf8", cwd: tmpdir() });
  const codes = [...commands, ...commands].map((command) => paste(command).slice(-3));
  expect(codes).toEqual(["201", "200", "200", "200", "200", "200"]);
  expect(commands.join()).not.toContain(cluster.ready.token);
});

it("prints a link to the page, on localhost, and how to make another", async () => {
  const [link = ""] = cluster.running.text.match(/^http:\/\/localhost:\d+\/enroll#[\w-]+$/m) ?? [];
  expect(new URL(link).port).toBe(new URL(peer(3).url).port);
  const held = JSON.parse(Buffer.from(new URL(link).hash.slice(1), "base64url").toString());
  expect(held).toMatchObject({ publicKey: { rp: { id: "localhost" }, user: { name: "example" } } });
  expect((await fetch(`${peer(2).url}/enroll`)).status).toBe(200);
  const command = cluster.running.text.match(/^.* approvers invite .*$/m)?.[0] ?? "";
  expect(execFileSync("sh", ["-c", command], { encoding: "utf8", cwd: tmpdir() })).toContain("/enroll#");
});

it("registers through any peer and reads the same bytes from all", async () => {
  const body = registration("alice");
  const registered = await call(2, "/v1/custody/approvers", body);
  expect(registered.status).toBe(201);
  const path = `/v1/custody/approvers/${encodeURIComponent(refOf(body))}`;
  for (const id of [1, 2, 3]) expect(await call(id, path)).toEqual({ status: 200, text: registered.text });
});

it("refuses a second dev on the same folder, and a peer that runs already", async () => {
  const secrets = join(cluster.ready.dataDir, "dev-secrets");
  const [second, peerAgain] = await Promise.all([
    runCustody(["dev", "--data", cluster.ready.dataDir]),
    runCustody(["server", "--config", peer(1).config, "--dev-secrets", secrets]),
  ]);
  expect([second.code, peerAgain.code]).toEqual([2, 2]);
  expect(second.stderr).toContain(`process ${cluster.running.child.pid}`);
  expect(peerAgain.stderr).toContain(`process ${peer(1).pid}`);
});

it("makes tokens with what they are asked for and nothing else", async () => {
  const args = ["token", "--data", cluster.ready.dataDir, "--sub", "bob", "--permission", "service.approvers.read"];
  const { code, stdout } = await runCustody(args);
  expect(code).toBe(0);
  const response = await fetch(`${peer(1).url}/v1/custody/approvers`, {
    method: "POST",
    headers: { "x-jwt-token": stdout.trim(), "content-type": "application/json" },
    body: JSON.stringify(registration("carol")),
  });
  expect(response.status).toBe(403);
});

it(
  "reports a killed peer, takes it back, and stops it with the others",
  async () => {
    process.kill(peer(2).pid, "SIGKILL");
    await cluster.said(/peer 2 \(process \d+\) killed by SIGKILL/);
    expect((await call(1, "/v2/custody/config")).status).toBe(200);

    const back = spawn("sh", ["-c", peer(2).restart], { cwd: "/", stdio: "ignore" });
    await cluster.said(/peer 2 is back as process \d+/);
    await until(async () => (await Promise.all([isReady(1), isReady(2), isReady(3)])).every(Boolean));
    const body = registration("dave");
    const registered = await call(2, "/v1/custody/approvers", body);
    expect(registered.status).toBe(201);

    const pid = readReady(cluster.readyFile).peers.find(({ id }) => id === 2)?.pid ?? 0;
    expect(cluster.running.text).toContain(`peer 2 is back as process ${pid}`);
    expect(isAlive(pid)).toBe(true);
    expect(await cluster.running.stop()).toBe(0);
    expect([...cluster.ready.peers.map((each) => each.pid), pid].filter(isAlive)).toEqual([]);
    await until(() => back.exitCode !== null);
    expect(back.exitCode).toBe(0);
    expect(existsSync(cluster.readyFile)).toBe(false);

    await start();
    const path = `/v1/custody/approvers/${encodeURIComponent(refOf(body))}`;
    for (const id of [1, 2, 3]) expect(await call(id, path)).toEqual({ status: 200, text: registered.text });
    expect(await cluster.running.stop()).toBe(0);
  },
  patience,
);
