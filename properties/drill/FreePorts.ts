/** Ports for a development cluster, below those from which the system serves whoever connects. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.on("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });

/** A port such that three from it are free, and three from a hundred above. */
export const freeRow = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const free = await Promise.all([0, 1, 2, 100, 101, 102].map((more) => isFree(port + more)));
    if (!free.includes(false)) return port;
  }
};
