import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { request } from "node:https";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { issue } from "./Certificates.ts";
import { registration, ServerCluster } from "./ServerCluster.ts";

const opened: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close();
});
const track = (cluster: ServerCluster): ServerCluster => {
  opened.push(() => cluster.close());
  return cluster;
};

/** Idle connections from another address of this machine, opened again whenever one is closed. */
const besiege = (url: string, count: number, localAddress = "127.0.0.9"): void => {
  const { port } = new URL(url);
  const sockets = new Set<Socket>();
  let isOver = false;
  const attack = (): void => {
    if (isOver) return;
    const socket = connect({ port: Number(port), host: "127.0.0.1", localAddress });
    sockets.add(socket);
    socket.on("error", () => undefined).resume();
    socket.on("close", () => {
      sockets.delete(socket);
      setTimeout(attack, 200);
    });
  };
  for (let index = 0; index < count; index++) attack();
  opened.push(() => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
  });
};

const metricsOf = async (cluster: ServerCluster, id: number): Promise<string> =>
  (await fetch(`${cluster.server(id).peerUrl}/metrics`)).text();

describe("peers besieged by more idle connections than a listener takes", () => {
  it("found their cluster, register and answer, and say so", async () => {
    const cluster = track(await ServerCluster.start(2));
    for (const id of cluster.ids) {
      besiege(cluster.server(id).peerUrl, 1_100);
      besiege(cluster.server(id).url, 1_100);
    }
    for (const id of cluster.ids) await cluster.initialize(id);
    for (const id of cluster.ids) await cluster.unseal(id);
    for (const id of cluster.ids) await cluster.ready(id);
    expect((await cluster.register(2, registration("besieged"))).status).toBe(201);
    // Connections that say nothing are cut off together, and open again one by one: their number is low for a moment.
    await vi.waitFor(async () => {
      const metrics = await metricsOf(cluster, 1);
      for (const name of ["custody_http", "custody_peer_http"]) {
        expect(metrics).toMatch(
          new RegExp(`^${name}_connections_cut_total\\{reason="tooManyOfOneAddress"\\} [1-9]`, "m"),
        );
        expect(metrics).toMatch(new RegExp(`^${name}_connections 2[0-9]{2}$`, "m"));
      }
    });
    const told = cluster.logs.filter((line) => line.includes('"event":"connections cut off"'));
    // Both peers, and again after a minute.
    for (const listener of ["http", "peer-http"]) {
      expect(told.filter((line) => JSON.parse(line).listener === listener).length).toBeGreaterThanOrEqual(2);
    }
  });
});

describe("a public API with TLS", () => {
  // That a handshake has to end is held by server/net/ConnectionGuard.test.ts; here it would take ten seconds.
  it("counts connections that never shake hands for as long as they are there, and cuts off one in clear", async () => {
    const folder = mkdtempSync(join(tmpdir(), "custody-connections-"));
    opened.push(() => rmSync(folder, { recursive: true }));
    const { pem, key } = issue("public", undefined);
    writeFileSync(join(folder, "cert"), pem);
    writeFileSync(join(folder, "key"), key.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
    const env = { CUSTODY_HTTP_TLS_CERT: join(folder, "cert"), CUSTODY_HTTP_TLS_KEY: join(folder, "key") };
    const cluster = track(await ServerCluster.start(1));
    await cluster.stop(1);
    await cluster.run(1, env);
    const { port } = new URL(cluster.server(1).url);
    const headers = await new Promise<IncomingHttpHeaders>((resolve, reject) => {
      const path = "/v1/custody/system/health";
      request({ port, host: "127.0.0.1", path, ca: pem, agent: false }, (response) => {
        response.resume();
        resolve(response.headers);
      })
        .on("error", reject)
        .end();
    });
    expect(headers).toMatchObject({
      "strict-transport-security": "max-age=31536000",
      "x-content-type-options": "nosniff",
    });
    const silent = Array.from({ length: 20 }, () =>
      connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true }),
    );
    const clear = connect({ port: Number(port), host: "127.0.0.1", allowHalfOpen: true });
    for (const socket of [...silent, clear]) socket.on("error", () => undefined).resume();
    opened.push(() => {
      for (const socket of silent) socket.destroy();
    });
    clear.end("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
    const count = (wanted: number) =>
      vi.waitFor(
        async () =>
          expect(await metricsOf(cluster, 1)).toMatch(new RegExp(`^custody_http_connections ${wanted}$`, "m")),
        { timeout: 20_000, interval: 100 },
      );
    await count(20);
    for (const socket of silent.slice(0, 10)) socket.destroy();
    await count(10);
    expect(await metricsOf(cluster, 1)).toMatch(/^custody_http_connections_cut_total\{reason="handshake"\} 1$/m);
    for (const socket of silent) socket.destroy();
    await count(0);
  });
});

/** Connections that count the answers they are given. */
const counting = async (url: string, count: number, localAddress: string) => {
  const counted = { answers: 0 };
  const sockets = Array.from({ length: count }, () => {
    const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1", localAddress });
    socket.on("error", () => undefined);
    socket.on("data", (part) => (counted.answers += part.toString("latin1").split("HTTP/1.1 200 ").length - 1));
    return socket;
  });
  await Promise.all(sockets.map((socket) => new Promise((resolve) => void socket.once("connect", resolve))));
  const first = Promise.race(sockets.map((socket) => new Promise((resolve) => void socket.once("data", resolve))));
  const send = (text: string): void => {
    for (const socket of sockets) socket.write(text);
  };
  const leave = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  opened.push(leave);
  return { counted, first, send, leave };
};

describe("a caller that goes away before its answer", () => {
  it("is no fault of the peer's", async () => {
    const cluster = track(await ServerCluster.found(2));
    await cluster.stop(2);
    const token = await cluster.mint(["service.approvers.register"]);
    const body = JSON.stringify(registration("gone"));
    const head = `POST /v1/custody/approvers HTTP/1.1\r\nhost: peer\r\nx-jwt-token: ${token}\r\n`;
    const connections = async () => /^custody_http_connections .*$/m.exec(await metricsOf(cluster, 1))?.[0];
    const before = await connections();
    const caller = await counting(cluster.server(1).url, 1, "127.0.0.9");
    caller.send(`${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    await vi.waitFor(async () =>
      expect(await metricsOf(cluster, 1)).toMatch(/^custody_events_total\{event="Command"\} [1-9]/m),
    );
    caller.leave();
    await vi.waitFor(async () => expect(await connections()).toBe(before));
    expect(cluster.logs.filter((line) => line.includes("request failed"))).toEqual([]);
  });
});

describe("a read", () => {
  it("does not wait for all that another host has sent before it by many connections", async () => {
    const cluster = track(await ServerCluster.found(1));
    const { ref } = (await cluster.register(1, registration("wanted"))).json;
    const token = await cluster.mint(["service.approvers.read"]);
    const read = `GET /v1/custody/approvers/${ref} HTTP/1.1\r\nhost: peer\r\nx-jwt-token: ${token}\r\n\r\n`;
    const { url } = cluster.server(1);
    const greedy = await counting(url, 40, "127.0.0.9");
    const modest = await counting(url, 1, "127.0.0.1");
    greedy.send(read.repeat(30));
    modest.send(read);
    await modest.first;
    expect(modest.counted.answers).toBe(1);
    expect(greedy.counted.answers).toBeLessThan(400);
    await vi.waitFor(() => expect(greedy.counted.answers).toBe(1_200));
  });
});
