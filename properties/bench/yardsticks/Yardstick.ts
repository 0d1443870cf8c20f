/** Something that stores what it is given as durably as we do, beside which registrations are held. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { Loaded } from "../Load.ts";

export interface Yardstick {
  /** As in the figures. */
  readonly name: string;
  /** So many callers write so many records of about the size of ours, each as soon as its last one is answered. */
  readonly write: (callers: number, count: number) => Promise<Loaded>;
  readonly stop: () => Promise<void>;
}

/** Bytes of a record, about those of an approver with one Ed25519 key. */
export const RECORD_BYTES = 600;

/** Whether a program is on the path and answers. */
export const isInstalled = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;

/** A port on loopback that nobody has at this moment. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || address === null) throw new Error("no port is free");
  return address.port;
};
