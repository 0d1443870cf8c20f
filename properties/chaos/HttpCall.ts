/** One request to a real peer, and its answer. */
import {
  type Agent,
  Agent as HttpAgent,
  type AgentOptions,
  type IncomingHttpHeaders,
  request as httpRequest,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { createSecureContext } from "node:tls";

/** The service answers within 10 s; an overloaded machine gets half as much again. */
const PATIENCE_MILLIS = 15_000;
const MOST_BODY_BYTES = 1024 * 1024;

export interface Answered {
  /** 0 where no answer came. */
  readonly status: number;
  readonly text: string;
  /** As it was sent. */
  readonly etag?: string;
  readonly headers?: IncomingHttpHeaders;
  /** No answer came although a process was there and had all the time there is. */
  readonly isOverdue?: boolean;
}

const ignore = (): void => undefined;

/** Connections to peers. @param ca the authority of their certificates, in PEM; absent where they speak in clear */
export const agentFor = (ca: string | undefined, options: AgentOptions): Agent =>
  // Made once: it costs more than all else about a connection.
  ca === undefined
    ? new HttpAgent(options)
    : new HttpsAgent({ ...options, secureContext: createSecureContext({ ca }) });

export interface Sent {
  /** A POST where there is a body, else a GET. */
  readonly method?: string;
  readonly token: string | undefined;
  readonly body: Uint8Array | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Never rejects. */
export const call = (
  agent: Agent | undefined,
  url: string,
  path: string,
  { token, body, headers = {}, method = body === undefined ? "GET" : "POST" }: Sent,
): Promise<Answered> =>
  new Promise((resolve) => {
    const silence = (): void => resolve({ status: 0, text: "" });
    const { hostname, port, protocol } = new URL(url);
    let isConnected = false;
    const sent = (protocol === "https:" ? httpsRequest : httpRequest)(
      {
        ...(agent && { agent }),
        hostname,
        port,
        path,
        method,
        headers: {
          ...headers,
          ...(token !== undefined && { "x-jwt-token": token }),
          ...(body !== undefined && { "content-type": "application/json", "content-length": body.length }),
        },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
          if (text.length > MOST_BODY_BYTES) response.destroy();
        });
        const { headers } = response;
        const { etag } = headers;
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text, headers, ...(etag && { etag }) }));
        response.on("error", silence);
        response.on("close", silence);
      },
    );
    const timer = setTimeout(() => {
      if (isConnected) resolve({ status: 0, text: "", isOverdue: true });
      sent.destroy();
    }, PATIENCE_MILLIS);
    // Written to its connection as a whole: from here on the peer has to answer it.
    sent.on("finish", () => {
      isConnected = true;
    });
    sent.on("close", () => clearTimeout(timer));
    sent.on("error", silence);
    // The rest of a body may fail after its answer has come, when Node no longer listens.
    sent.on("socket", (socket) => {
      if (!socket.listeners("error").includes(ignore)) socket.on("error", ignore);
    });
    sent.end(body);
  });
