/** A peer as the command line sees it: every request is kept, every answer is scripted. */
import { createServer, type IncomingMessage } from "node:http";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly token: string | undefined;
  readonly ifMatch: string | undefined;
  readonly body: string;
}

/** What to answer; `cut` closes the connection without an answer, `hang` never answers. */
export type Reply = { readonly status: number; readonly type: string; readonly body: string } | "cut" | "hang";

export interface FakeService {
  readonly url: string;
  readonly received: ReadonlyArray<Received>;
  readonly close: () => Promise<void>;
}

export const jsonReply = (status: number, body: unknown): Reply => ({
  status,
  type: status < 400 ? "application/json" : "application/problem+json",
  body: JSON.stringify(body),
});

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Array<Uint8Array> = [];
  for await (const chunk of request) if (chunk instanceof Uint8Array) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
};

/** Listens on a free port of 127.0.0.1 and answers each request with `reply`. */
export const fakeService = (reply: (request: Received) => Reply): Promise<FakeService> =>
  new Promise((resolve) => {
    const received: Array<Received> = [];
    const server = createServer((request, response) => {
      void bodyOf(request).then((body) => {
        const token = request.headers["x-jwt-token"];
        const one: Received = {
          method: request.method ?? "",
          path: request.url ?? "",
          token: typeof token === "string" ? token : undefined,
          ifMatch: request.headers["if-match"],
          body,
        };
        received.push(one);
        const answer = reply(one);
        if (answer === "hang") return;
        if (answer === "cut") return void request.socket.destroy();
        response.writeHead(answer.status, { "content-type": answer.type }).end(answer.body);
      });
    });
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      resolve({
        url: `http://127.0.0.1:${port}`,
        received,
        close: () =>
          new Promise((done) => {
            server.closeAllConnections();
            server.close(() => done());
          }),
      });
    });
  });
