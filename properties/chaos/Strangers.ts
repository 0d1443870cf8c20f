/**
 * Connections of strangers to a port of a peer: many at once, each in one way that costs a careless server something
 * and the stranger nothing. They come from an address of their own, where loopback has more than one.
 */
import { connect, type Socket } from "node:net";
import { connect as secureConnect } from "node:tls";

/** What a stranger does with a connection. */
export const strangerWays = ["silent", "half a header", "promised body", "slow reader", "garbage"] as const;
export type StrangerWay = (typeof strangerWays)[number];

/** So many connections at once; a test on loopback stays bounded. */
const CONNECTIONS = 300;
const PIPELINED = 200;
const DECLARED_BYTES = 200 * 1024;

/** Linux has all of 127.0.0.0/8 on loopback; elsewhere strangers and callers share one address. */
const STRANGE_ADDRESS = process.platform === "linux" ? "127.0.0.2" : "127.0.0.1";

export interface Target {
  readonly port: number;
  /** The authority of the port's certificate, in PEM; undefined where it speaks in clear. */
  readonly ca: string | undefined;
  /** A path that is read with GET. */
  readonly readPath: string;
  /** A path that takes bodies of this type. */
  readonly bodyPath: string;
  readonly bodyType: string;
  /** A valid token without any permission, where one is needed to get that far. */
  readonly token: string;
}

const header = (target: Target, first: string, ...more: ReadonlyArray<string>): string =>
  [first, "host: 127.0.0.1", `x-jwt-token: ${target.token}`, ...more, "", ""].join("\r\n");

const opening: Readonly<Record<StrangerWay, (target: Target) => string>> = {
  silent: () => "",
  "half a header": ({ readPath }) => `GET ${readPath} HTTP/1.1\r\nhost: 127.0.0.1\r\n`,
  "promised body": (target) =>
    header(
      target,
      `POST ${target.bodyPath} HTTP/1.1`,
      `content-type: ${target.bodyType}`,
      `content-length: ${DECLARED_BYTES}`,
    ),
  "slow reader": (target) => header(target, `GET ${target.readPath} HTTP/1.1`).repeat(PIPELINED),
  garbage: () => "\x16\x03\x01 nothing that anybody understands\r\n\r\n",
};

const openOne = (target: Target, way: StrangerWay): Socket => {
  const raw = connect({ host: "127.0.0.1", port: target.port, localAddress: STRANGE_ADDRESS });
  raw.on("error", () => undefined);
  // A stranger that never shakes hands, or speaks another protocol, sends below TLS.
  if (target.ca === undefined || way === "silent" || way === "garbage") {
    raw.on("connect", () => void raw.write(opening[way](target)));
    if (way === "slow reader") raw.pause();
    else raw.resume();
    return raw;
  }
  const secure = secureConnect({ socket: raw, ca: target.ca, servername: "" });
  secure.on("error", () => undefined);
  secure.on("secureConnect", () => void secure.write(opening[way](target)));
  if (way === "slow reader") secure.pause();
  else secure.resume();
  return raw;
};

export class Strangers {
  readonly #sockets: ReadonlyArray<Socket>;

  /** They come at once, and stay until {@link leave}, or until they are cut off. */
  constructor(target: Target, way: StrangerWay) {
    this.#sockets = Array.from({ length: CONNECTIONS }, () => openOne(target, way));
  }

  leave(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
