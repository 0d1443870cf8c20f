/** The yardstick for reads: a bare `node:http` server in a process of its own that answers with a record's bytes. */
import { type ChildProcess, spawn } from "node:child_process";

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
  readonly stop: () => void;
}

export const startBareHttp = (bodyBytes: number): Promise<BareHttp> =>
  new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(process.execPath, ["-e", program, String(bodyBytes)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    child.once("error", reject);
    child.stdout?.once("data", (port: Buffer) =>
      resolve({ url: `http://127.0.0.1:${port.toString().trim()}`, stop: () => void child.kill("SIGTERM") }),
    );
  });
