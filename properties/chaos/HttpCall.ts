/** One request to a real peer, and what came back. */
import { type Agent, request as httpRequest } from "node:http";

/** The service answers within 10 s. */
const PATIENCE_MILLIS = 15_000;
const MOST_BODY_BYTES = 1024 * 1024;

export interface Answered {
  /** 0 where no answer came. */
  readonly status: number;
  readonly text: string;
}

/** A POST where there is a body, else a GET; never rejects. */
export const call = (
  agent: Agent | undefined,
  url: string,
  path: string,
  { token, body }: { readonly token: string | undefined; readonly body: Uint8Array | undefined },
): Promise<Answered> =>
  new Promise((resolve) => {
    const silence = (): void => resolve({ status: 0, text: "" });
    const { hostname, port } = new URL(url);
    const sent = httpRequest(
      {
        ...(agent && { agent }),
        hostname,
        port,
        path,
        method: body === undefined ? "GET" : "POST",
        headers: {
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
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
        response.on("error", silence);
        response.on("close", silence);
      },
    );
    const timer = setTimeout(() => sent.destroy(), PATIENCE_MILLIS);
    sent.on("close", () => clearTimeout(timer));
    sent.on("error", silence);
    sent.end(body);
  });
