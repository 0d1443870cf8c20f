/** Plain GETs without a token, to find out what listens somewhere. */
import { Either } from "effect";
import { type BoundedCall, boundedCall, type NoAnswer } from "../net/BoundedCall.ts";

const MOST_BYTES = 16 * 1024;

export interface Reply {
  readonly status: number;
  readonly text: string;
  /** Unix milliseconds of its `Date`, to the second; undefined without one. */
  readonly date: number | undefined;
}

/** Why there was no answer, and what to do about it. */
const reasonOf = (code: string | undefined): string => {
  switch (code) {
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
      return `${code ?? "the connection broke"}; check the address, the firewall and the certificates of both`;
  }
};

const whyNot = (none: NoAnswer, timeoutMillis: number): string =>
  none._tag === "Broken"
    ? reasonOf(none.code)
    : `no answer within ${timeoutMillis / 1000} s; check the address and the firewall`;

/** The answer, of whatever status, or why there is none. Never rejects; a body beyond 16 KiB is cut. */
export const get = async (
  url: string,
  tls: NonNullable<BoundedCall["tls"]>,
  timeoutMillis: number,
): Promise<Either.Either<Reply, string>> => {
  const answered = await boundedCall({ url, method: "GET", tls, timeoutMillis, mostBytes: () => MOST_BYTES });
  return Either.mapBoth(answered, {
    onLeft: (none) => whyNot(none, timeoutMillis),
    onRight: ({ status, headers, body }) => {
      const date = Date.parse(headers.date ?? "");
      return { status, text: Buffer.from(body).toString("utf8"), date: Number.isNaN(date) ? undefined : date };
    },
  });
};
