/**
 * The kinds of values a configuration holds. Each refuses with one sentence,
 * "what is wrong; what to do", that never quotes the submitted value.
 */
import { isIP } from "node:net";
import { resolve } from "node:path";
import { Either, ParseResult, Schema } from "effect";
import { isLoopbackHost } from "./Loopback.ts";

/** Replaces every message of a schema, inner ones included, by one sentence. */
const explained = <A, I>(schema: Schema.Schema<A, I>, sentence: string): Schema.Schema<A, I> =>
  schema.annotations({ message: () => ({ message: sentence, override: true }) });

/**
 * A text that becomes a value.
 *
 * @param sentence the fault of anything but a text
 * @param decode the value, or the sentence for this text
 */
export const decoded = <A>(
  sentence: string,
  decode: (text: string) => Either.Either<A, string>,
  target: Schema.Schema<A>,
) =>
  Schema.transformOrFail(Schema.String.annotations({ message: () => sentence }), target, {
    strict: true,
    decode: (text, _options, ast) =>
      Either.mapLeft(decode(text), (message) => new ParseResult.Type(ast, text, message)),
    encode: (value, _options, ast) =>
      ParseResult.fail(new ParseResult.Forbidden(ast, value, "a configuration is only read")),
  });

/** One line of 1 to 256 printable characters. */
export const Text = explained(
  Schema.String.pipe(Schema.pattern(/^[^\p{Cc}\p{Cs}]{1,256}$/u)),
  "must be one line of 1 to 256 printable characters; quote it if it looks like a number",
);

/** The type that a token names (RFC 7515 4.1.9), without `application/`; `absent` for a token that names none. */
export const TokenType = explained(
  Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}$/)),
  "must be the type of a token, as its typ says it, without application/; write for example JWT, at+jwt or absent",
);

/** The identity key of a peer. */
export const IdentityKey = explained(
  Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/)),
  "must be 64 lower-case hexadecimal digits, as custody status shows them at that peer",
);

export const Flag = explained(Schema.Boolean, "must be true or false; write one of both");

/** One of a few words. */
export const oneOf = <const Words extends readonly [string, ...ReadonlyArray<string>]>(
  ...words: Words
): Schema.Schema<Words[number], string> =>
  explained(
    Schema.String.pipe(
      Schema.filter((text): text is Words[number] => words.includes(text), { message: () => "must be a listed word" }),
    ),
    `must be one of ${words.join(", ")}; write one of them`,
  );

export const integer = (least: number, most: number) =>
  explained(
    Schema.Number.pipe(Schema.int(), Schema.between(least, most)),
    `must be a whole number from ${least} to ${most}; write such a number`,
  );

/** A share of a whole. */
export const Ratio = explained(
  Schema.Number.pipe(Schema.between(0, 1)),
  "must be a number from 0 to 1; write for example 0.1",
);

/** Port 0 lets the system choose, for tests and trials. */
export const Port = integer(0, 65_535);

/** A peer's number. */
export const PeerNumber = integer(1, 65_535);

/** Values as a text of a number and a unit, in that range of the smallest unit; the refusal has examples out of it. */
const measure =
  (kind: string, units: Readonly<Record<string, number>>, examples: ReadonlyArray<string>) =>
  (least: number, most: number, range: string) => {
    const amountOf = (text: string): number | undefined => {
      const [, number, unit = ""] = /^([1-9][0-9]{0,11})([A-Za-z]+)$/.exec(text) ?? [];
      const unitAmount = Object.hasOwn(units, unit) ? units[unit] : undefined;
      if (unitAmount === undefined) return undefined;
      const amount = Number(number) * unitAmount;
      return amount >= least && amount <= most ? amount : undefined;
    };
    const fitting = examples.filter((each) => amountOf(each) !== undefined);
    const shown = new Intl.ListFormat("en-GB", { type: "disjunction" }).format(fitting);
    const sentence = `must be a ${kind} from ${range}, such as ${shown}; write a number and a unit`;
    return decoded(sentence, (text) => Either.fromNullable(amountOf(text), () => sentence), Schema.Number);
  };

/** `250ms`, `10s`, `5m`, `24h` or `7d`, as milliseconds. */
export const duration = measure("duration", { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }, [
  "250ms",
  "10s",
  "5m",
  "24h",
  "7d",
]);

/** `512KiB`, `64MiB` or `1GiB`, as bytes. */
export const byteSize = measure("size", { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }, ["512KiB", "64MiB", "1GiB"]);

/** A path of up to 4096 characters; a relative one counts from the folder of the configuration file. */
export const filePath = (directory: string) => {
  const sentence = "must be a path of 1 to 4096 characters; write one";
  return decoded(
    sentence,
    (text) =>
      /^[^\p{Cc}\p{Cs}]{1,4096}$/u.test(text) ? Either.right(resolve(directory, text)) : Either.left(sentence),
    Schema.String,
  );
};

/** A host name or address to listen on, without brackets or port. */
export const Host = explained(
  Schema.String.pipe(
    Schema.filter((text) => isIP(text) !== 0 || /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text)),
  ),
  "must be a host name or an IP address without a port; write for example 127.0.0.1",
);

const plainUrlFault = (url: URL): string | undefined => {
  if (url.protocol !== "https:" && url.protocol !== "http:") return "must begin with https://; write such a URL";
  if (url.username !== "" || url.password !== "") return "must not hold credentials; remove them from the URL";
  if (url.hash !== "") return "must not hold a fragment; remove the part from # on";
  return undefined;
};

const webUrlFault = (url: URL): string | undefined => {
  const fault = plainUrlFault(url);
  if (fault !== undefined) return fault;
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    return "has no TLS and is not a loopback address; use https://";
  }
  return undefined;
};

const urlSentence = "must be a URL of at most 2048 characters; write for example https://host:7400";

const parsedUrl = (text: string, faultOf = webUrlFault): Either.Either<URL, string> => {
  if (text.length > 2048 || !URL.canParse(text)) return Either.left(urlSentence);
  const url = new URL(text);
  const fault = faultOf(url);
  return fault === undefined ? Either.right(url) : Either.left(fault);
};

/** An https URL, or http for a loopback host; no credentials, no fragment. */
export const WebUrl = decoded(urlSentence, (text) => Either.map(parsedUrl(text), (url) => url.href), Schema.String);

/** The address of a peer API: as {@link WebUrl}, with neither path nor query; decoded to `scheme://host:port`. */
export const PeerUrl = decoded(
  urlSentence,
  (text) =>
    Either.flatMap(parsedUrl(text), (url) =>
      url.pathname === "/" && url.search === ""
        ? Either.right(url.origin)
        : Either.left("must hold only scheme, host and port; remove the path and query"),
    ),
  Schema.String,
);

/**
 * The address of a collector: an https or http URL without query; decoded without a slash at its end. Whether http will
 * do is for the section to say.
 */
export const CollectorUrl = decoded(
  urlSentence,
  (text) =>
    Either.flatMap(parsedUrl(text, plainUrlFault), (url) =>
      url.search === ""
        ? Either.right(url.href.replace(/\/+$/, ""))
        : Either.left("must hold no query; remove the part from ? on"),
    ),
  Schema.String,
);

/** A list without repetition. */
export const distinctList = <A, I>(item: Schema.Schema<A, I>, least: number, most: number) => {
  const sentence = `must be a list of ${least} to ${most} different entries; write it as a list and remove repetitions`;
  return Schema.Array(item)
    .annotations({ message: () => sentence })
    .pipe(
      Schema.filter((list) => list.length >= least && list.length <= most && new Set(list).size === list.length, {
        message: () => sentence,
      }),
    );
};
