/** Plain GETs without a token, to find out what listens somewhere. */
import { Either } from "effect";
import { type BoundedCall, boundedCall } from "../net/BoundedCall.ts";
import { whyBroken, whyLate } from "../net/Unreachable.ts";

const MOST_BYTES = 16 * 1024;

export interface Reply {
  readonly status: number;
  readonly text: string;
  /** Unix milliseconds of its `Date`, to the second; undefined without one. */
  readonly date: number | undefined;
}

/** The answer, of whatever status, or why there is none. Never rejects; a body beyond 16 KiB is cut. */
export const get = async (
  url: string,
  tls: NonNullable<BoundedCall["tls"]>,
  timeoutMillis: number,
): Promise<Either.Either<Reply, string>> => {
  const answered = await boundedCall({ url, method: "GET", tls, timeoutMillis, mostBytes: () => MOST_BYTES });
  return Either.mapBoth(answered, {
    onLeft: (none) => (none._tag === "Broken" ? whyBroken(none.code) : whyLate(timeoutMillis)),
    onRight: ({ status, headers, body }) => {
      const date = Date.parse(headers.date ?? "");
      return { status, text: Buffer.from(body).toString("utf8"), date: Number.isNaN(date) ? undefined : date };
    },
  });
};
