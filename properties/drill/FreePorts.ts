/** Ports below those from which the system serves whoever connects: there one may be gone a moment after it was free. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Whether nothing listens there. */
const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.on("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });

const [FIRST, LAST] = [20_000, 32_000] as const;

/** Those that {@link freePort} has given out in this process, so that no two of its callers get one. */
const given = new Set<number>();

/** A port that was free a moment ago. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(FIRST, LAST);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
};

/** A port such that three from it are free, and three from a hundred above. */
export const freeRow = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(FIRST, LAST);
    const free = await Promise.all([0, 1, 2, 100, 101, 102].map((more) => isFree(port + more)));
    if (!free.includes(false)) return port;
  }
};
