/**
 * One of the three processes of {@link startBareTwoPhase}. Arguments: a folder for its database, then the
 * addresses of the members it coordinates; a member has none. Prints its port. A request is a JSON list of rows,
 * except a caller's, which is one row.
 */
import { Agent, createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import * as Reactivity from "@effect/experimental/Reactivity";
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient";
import { Effect, Scope } from "effect";

/** As many as one of our own batches takes. */
const BATCH = 64;

type Row = unknown;

interface Waiting {
  readonly row: Row;
  readonly response: ServerResponse;
}

const [folder = "", ...members] = process.argv.slice(2);

const open = Effect.gen(function* () {
  const client = yield* SqliteClient.make({ filename: join(folder, "bare.db") });
  const connection = yield* client.reserve;
  yield* connection.executeRaw("PRAGMA synchronous = FULL", []);
  yield* connection.executeRaw("CREATE TABLE rows (key INTEGER PRIMARY KEY, phase TEXT, row TEXT)", []);
  return connection;
});
const scope = Effect.runSync(Scope.make());
const connection = Effect.runSync(Scope.extend(Effect.provide(open, Reactivity.layer), scope));

/** One flushed commit of all rows, as one statement. */
const flush = (phase: string, rows: ReadonlyArray<Row>): void => {
  const values = rows.map(() => "(?, ?)").join(", ");
  const parameters = rows.flatMap((row) => [phase, JSON.stringify(row)]);
  Effect.runSync(connection.executeRaw(`INSERT INTO rows (phase, row) VALUES ${values}`, parameters));
};

const read = (message: IncomingMessage, use: (body: string) => void): void => {
  const chunks: Array<Buffer> = [];
  message.on("data", (chunk: Buffer) => chunks.push(chunk));
  message.on("end", () => use(Buffer.concat(chunks).toString()));
};

const answer = (response: ServerResponse, status: number, value: unknown): void => {
  const body = JSON.stringify(value);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
};

const agent = new Agent({ keepAlive: true });

const ask = (origin: string, phase: string, rows: ReadonlyArray<Row>): Promise<void> =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify(rows);
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = httpRequest(`${origin}/${phase}`, { agent, method: "POST", headers }, (response) =>
      read(response, () => (response.statusCode === 200 ? resolve() : reject(new Error(`a member refused ${phase}`)))),
    );
    sent.on("error", reject);
    sent.end(body);
  });

const askAll = (phase: string, rows: ReadonlyArray<Row>) =>
  Promise.all(members.map((member) => ask(member, phase, rows)));

const round = async (batch: ReadonlyArray<Waiting>): Promise<void> => {
  const rows = batch.map(({ row }) => row);
  flush("prepare", rows);
  await askAll("prepare", rows);
  const committed = askAll("commit", rows);
  // The requests leave before this process waits for its own flush.
  await new Promise((resolve) => void setImmediate(resolve));
  flush("commit", rows);
  await committed;
  for (const { row, response } of batch) answer(response, 201, row);
};

const waiting: Array<Waiting> = [];
let busy = false;

/** What came in during one round goes into the next one together. */
const coordinate = async (): Promise<void> => {
  if (busy) return;
  busy = true;
  while (waiting.length > 0) await round(waiting.splice(0, BATCH));
  busy = false;
};

const server = createServer((request, response) =>
  read(request, (body) => {
    if (members.length === 0) {
      flush(request.url === "/prepare" ? "prepare" : "commit", JSON.parse(body));
      return answer(response, 200, { done: true });
    }
    waiting.push({ row: JSON.parse(body), response });
    void coordinate();
  }),
);
server.listen(0, "127.0.0.1", () => {
  // An address of a TCP listener is no text.
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${port}\n`);
});
