/** Plain GETs without a token, to find out what listens somewhere. */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { SecureVersion } from "node:tls";
import { Either } from "effect";

const MOST_BYTES = 16 * 1024;

export interface Reply {
  readonly status: number;
  readonly text: string;
  /** Unix milliseconds of its `Date`, to the second; undefined without one. */
  readonly date: number | undefined;
}

interface CallTls {
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly ca?: Buffer;
  readonly rejectUnauthorized: boolean;
  readonly minVersion?: SecureVersion;
}

/** Why there was no answer, and what to do about it. */
const reasonOf = (error: NodeJS.ErrnoException): string => {
  switch (error.code) {
    case "ECONNREFUSED":
      return "nothing listens there; start it, or correct the address";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "the host name is not known; correct the address, or look at the name service";
    case "CERT_HAS_EXPIRED":
      return "its certificate has expired; renew it there, and send that peer SIGHUP";
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return "its certificate is for another address; have it issued for this one, or correct the address";
    default:
      return `${error.code ?? "the connection broke"}; check the address, the firewall and the certificates of both`;
  }
};

/** The answer, of whatever status, or why there is none. Never rejects; a body beyond 16 KiB is cut. */
export const get = (url: string, tls: CallTls, timeoutMillis: number): Promise<Either.Either<Reply, string>> =>
  new Promise((resolve) => {
    const send = url.startsWith("https:") ? httpsRequest : httpRequest;
    const call = send(url, { ...tls, agent: false, signal: AbortSignal.timeout(timeoutMillis) }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      const date = Date.parse(response.headers.date ?? "");
      const finish = (): void =>
        resolve(
          Either.right({
            status: response.statusCode ?? 0,
            text: text.slice(0, MOST_BYTES),
            date: Number.isNaN(date) ? undefined : date,
          }),
        );
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length <= MOST_BYTES) return;
        finish();
        response.destroy();
      });
      response.on("end", finish);
      response.on("error", finish);
    });
    call.on("error", (error: NodeJS.ErrnoException) =>
      resolve(
        Either.left(
          error.name === "AbortError" || error.name === "TimeoutError"
            ? `no answer within ${timeoutMillis / 1000} s; check the address and the firewall`
            : reasonOf(error),
        ),
      ),
    );
    call.end();
  });
