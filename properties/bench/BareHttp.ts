/** The yardstick for reads: a bare `node:http` server in a process of its own that answers with a record's bytes. */
import { Running } from "../cli/Running.ts";

const program = `
const body = "x".repeat(Number(process.argv[1]));
const server = require("node:http").createServer((request, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

export interface BareHttp {
  readonly url: string;
  readonly pid: number;
  readonly stop: () => void;
}

export const startBareHttp = async (bodyBytes: number): Promise<BareHttp> => {
  const running = new Running(["-e", program, String(bodyBytes)]);
  return { url: await running.listening(), pid: running.child.pid ?? 0, stop: () => running.signal("SIGTERM") };
};
