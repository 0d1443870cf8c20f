/** What a peer's process does at each signal. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { PeerFolder, ServerProcess } from "./cli/PeerProcess.ts";

let folder: PeerFolder;
const started: Array<ServerProcess> = [];
const start = (env: Readonly<Record<string, string>> = {}): ServerProcess => {
  const process = new ServerProcess(folder, env);
  started.push(process);
  return process;
};
beforeEach(async () => {
  folder = await PeerFolder.make();
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((each) => each.stop("SIGKILL")));
  folder.remove();
});

const isIgnored = (signal: string) => (line: { readonly event: string; readonly [name: string]: unknown }) =>
  line.event === "signal ignored" && line["signal"] === signal;

it("opens no debugger at SIGUSR1, goes on at SIGUSR2 and SIGHUP, and ends with 0 at SIGTERM", async () => {
  const peer = start();
  const url = await peer.url();
  peer.signal("SIGUSR1");
  await peer.said(isIgnored("SIGUSR1"));
  peer.signal("SIGUSR2");
  await peer.said(isIgnored("SIGUSR2"));
  peer.signal("SIGHUP");
  await peer.said(({ event }) => event === "reloaded");
  expect((await fetch(`${url}/v1/custody/system/health`)).status).toBe(200);
  peer.signal("SIGTERM");
  expect(await peer.ended()).toBe(0);
  expect(peer.text).not.toContain("Debugger");
});

it("reads token keys and log level anew at SIGHUP, and stays unsealed as it was", async () => {
  const peer = start();
  const url = await peer.url();
  const status = async () =>
    (await fetch(`${url}/v2/custody/config`, { headers: { "x-jwt-token": folder.token } })).status;
  // 503 is this peer's own state, so the token has been taken.
  expect(await status()).toBe(503);
  // Keys that are not known make it look once by itself, and then not for half a minute.
  await folder.newIssuer();
  expect(await status()).toBe(503);
  await folder.newIssuer();
  expect(await status()).toBe(401);
  folder.configure("debug", "approvers: {answer-timeout: 9s}");
  peer.signal("SIGHUP");
  await peer.said(({ event, ...fields }) => event === "reloaded" && fields["logLevel"] === "debug");
  expect(await status()).toBe(503);
  expect(peer.lines).toContainEqual(
    expect.objectContaining({ level: "warn", event: "reload", needsRestart: "approvers.answer-timeout" }),
  );
});

it.each(["--inspect=127.0.0.1:0", "--heapsnapshot-signal=SIGUSR2"])(
  "does not start with NODE_OPTIONS %s, which gives keys away",
  async (option) => {
    const peer = start({ NODE_OPTIONS: option });
    expect(await peer.ended()).toBe(2);
    expect(peer.text).toContain("keys away");
  },
);
