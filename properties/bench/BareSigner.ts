/**
 * The yardstick for signatures: two exchanges with one other process, which flushes one row in the second, and nothing
 * else. Arguments: a folder for its database, then the address of the member it asks; a member has none. Prints its port.
 */
import { Agent, createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import * as Reactivity from "@effect/experimental/Reactivity";
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient";
import { Effect, Scope } from "effect";

const [folder = "", member] = process.argv.slice(2);

const open = Effect.gen(function* () {
  const client = yield* SqliteClient.make({ filename: join(folder, "bare.db") });
  const connection = yield* client.reserve;
  yield* connection.executeRaw("PRAGMA synchronous = FULL", []);
  yield* connection.executeRaw("CREATE TABLE rows (key INTEGER PRIMARY KEY, row TEXT)", []);
  return connection;
});
const scope = Effect.runSync(Scope.make());
const connection = Effect.runSync(Scope.extend(Effect.provide(open, Reactivity.layer), scope));

const bodyOf = async (message: IncomingMessage): Promise<string> => {
  const chunks: Array<Uint8Array> = [];
  for await (const chunk of message) if (chunk instanceof Uint8Array) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

const answer = (response: ServerResponse): void => {
  response.writeHead(200, { "content-type": "application/json", "content-length": 2 });
  response.end("{}");
};

const agent = new Agent({ keepAlive: true });

const ask = (url: string, body: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = httpRequest(url, { agent, method: "POST", headers }, (response) => {
      response.resume();
      response.on("end", resolve);
    });
    sent.on("error", reject);
    sent.end(body);
  });

const server = createServer((request, response) => {
  void bodyOf(request).then(async (body) => {
    if (member !== undefined) {
      await ask(`${member}/open`, body);
      await ask(`${member}/package`, body);
    } else if (request.url === "/package")
      Effect.runSync(connection.executeRaw("INSERT INTO rows (row) VALUES (?)", [body]));
    answer(response);
  });
});
server.listen(0, "127.0.0.1", () => {
  // An address of a TCP listener is no text.
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${port}\n`);
});
