import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Either } from "effect";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../config/ConfigFile.ts";
import { thresholdOf } from "./ClusterFile.ts";
import { devFolder } from "./DevFolder.ts";
import { type DevOrder, openDevFolder, prepareCluster } from "./DevSetup.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "custody-setup-"));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const fresh: DevOrder = { peers: undefined, port: undefined };
const prepare = (order: DevOrder) =>
  Effect.gen(function* () {
    const folder = devFolder(root);
    return yield* prepareCluster(folder, order, yield* openDevFolder(folder, order));
  });
const prepared = (order: DevOrder) => Effect.runPromise(prepare(order));
const refused = async (order: DevOrder) =>
  Either.getOrThrow(Either.flip(await Effect.runPromise(Effect.either(prepare(order)))));

describe("a new folder", () => {
  it("gets configurations the server accepts, each naming the other peers", async () => {
    const { peers } = await prepared({ peers: 2, port: 0 });
    const config = await Effect.runPromise(loadConfig(devFolder(root).peer(2).config, {}));
    expect(config.http.port).toBe(peers[1]?.httpPort);
    expect(config.cluster.peers).toEqual([{ id: 1, url: `http://127.0.0.1:${peers[0]?.peerPort}` }]);
    expect(config.development).toBe(true);
    expect(config.auth.jwks.file).toBe(join(root, "dev-secrets", "issuer", "jwks.json"));
  });

  it("keeps ports, bootstrap secret and number of peers for the next start, unless a port is given", async () => {
    const first = await prepared({ peers: 2, port: 0 });
    const secret = readFileSync(devFolder(root).bootstrap, "utf8");
    expect(await prepared(fresh)).toEqual(first);
    expect(readFileSync(devFolder(root).bootstrap, "utf8")).toBe(secret);
    expect((await prepared({ peers: 2, port: 0 })).peers).not.toEqual(first.peers);
  });

  it("names origins as browsers send them, without the port that they leave out", async () => {
    await prepared({ peers: 1, port: 80 });
    const { webauthn } = await Effect.runPromise(loadConfig(devFolder(root).peer(1).config, {}));
    expect(webauthn.origins).toEqual(["http://localhost"]);
  });

  it("is closed to others", async () => {
    await prepared({ peers: 1, port: 0 });
    const { secrets, bootstrap, cluster } = devFolder(root);
    const modes = [root, secrets, bootstrap, cluster].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o700, 0o700, 0o600, 0o600]);
  });
});

it.each([
  [0, false],
  [1, true],
  [9, true],
  [10, false],
])("takes %d peers: %s", async (peers, taken) => {
  const result = await Effect.runPromise(Effect.either(prepare({ peers, port: 0 })));
  expect(Either.isRight(result)).toBe(taken);
});

it.each([
  [-1, /--port/],
  [65_427, /--port/],
])("refuses the port %d", async (port, message) => {
  expect((await refused({ peers: 1, port })).message).toMatch(message);
});

it("refuses another number of peers, a folder with other files, and a cluster file it cannot read", async () => {
  await prepared({ peers: 2, port: 0 });
  expect((await refused({ peers: 3, port: undefined })).message).toContain("holds a cluster of 2");
  writeFileSync(devFolder(root).cluster, "{}");
  expect((await refused(fresh)).message).toContain("not the cluster file of this version");
  rmSync(devFolder(root).cluster);
  expect((await refused(fresh)).message).toContain("holds other files");
});

it("names a port that is taken, and what it was for", async () => {
  const { peers } = await prepared({ peers: 1, port: 0 });
  const taken = createServer();
  await new Promise<void>((resolve) => void taken.listen(peers[0].peerPort, "127.0.0.1", resolve));
  const { message } = await refused(fresh);
  taken.close();
  expect(message).toBe(`port ${peers[0].peerPort} (peer API of peer 1) is taken by another program`);
});

it("asks for a majority, and for more than one of several", () => {
  expect([1, 2, 3, 4, 5, 9].map(thresholdOf)).toEqual([1, 2, 2, 3, 3, 5]);
});
