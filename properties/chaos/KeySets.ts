/** The issuer's key set at a URL of its own, which can go away. */
import { createServer, type Server } from "node:http";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";

export class KeySets {
  readonly #server: Server;
  /** Connections are taken, and closed without a word. */
  isAway = false;

  private constructor(file: string) {
    this.#server = createServer((request, response) => {
      if (this.isAway) return void request.socket.destroy();
      response.writeHead(200, { "content-type": "application/json" }).end(readFileSync(file));
    });
  }

  /**
   * Listens on a free port of 127.0.0.1.
   *
   * @param file the key set, as JSON
   */
  static async open(file: string): Promise<KeySets> {
    const made = new KeySets(file);
    await new Promise<void>((resolve, reject) => {
      made.#server.once("error", reject);
      made.#server.listen(0, "127.0.0.1", () => resolve());
    });
    return made;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/keys`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }
}
