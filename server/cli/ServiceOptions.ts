/** The options every command that talks to a peer has, and the client they describe. */
import * as Options from "@effect/cli/Options";
import { Effect, Option, type Scope } from "effect";
import { readBoundedText } from "../config/BoundedFile.ts";
import { isLoopbackHost } from "../config/Loopback.ts";
import { loadAccessToken } from "./AccessToken.ts";
import { type CliFailure, usageFailure } from "./CliFailure.ts";
import { durationOption } from "./DurationOption.ts";
import { openService, type Service, type ServiceAddress } from "./ServiceClient.ts";

/** How peers are called, whichever they are. */
export interface Connection {
  readonly tokenFile: string | undefined;
  readonly tlsCa: string | undefined;
  readonly tlsCert: string | undefined;
  readonly tlsKey: string | undefined;
  readonly timeoutMillis: number;
}

export interface ServiceSettings extends Connection {
  readonly url: string | undefined;
}

/** PEM files are a few KiB each; a bundle of authorities may be larger. */
const maxPemBytes = 1024 * 1024;

const optionalText = (name: string, pseudoName: string, description: string) =>
  Options.text(name).pipe(
    Options.withPseudoName(pseudoName),
    Options.withDescription(description),
    Options.optional,
    Options.map(Option.getOrUndefined),
  );

/** Machine-readable output. */
export const jsonOption = Options.boolean("json").pipe(
  Options.withDescription("Print one line of JSON instead of text; a failure too, on standard error."),
);

/** Token, certificates and patience. */
const connection = {
  tokenFile: optionalText(
    "token-file",
    "FILE|-",
    "File with the access token, - for standard input. Default: the token in CUSTODY_TOKEN. Never an argument.",
  ),
  tlsCa: optionalText("tls-ca", "FILE", "PEM file with the authorities to trust instead of the system's."),
  tlsCert: optionalText("tls-cert", "FILE", "PEM file with the client certificate to show."),
  tlsKey: optionalText("tls-key", "FILE", "PEM file with the client certificate's private key."),
  timeoutMillis: durationOption("timeout", [1, 600_000], "1ms to 10m").pipe(
    Options.withDescription("How long to wait for an answer, such as 1m. Default: 30s."),
    Options.withDefault(30_000),
  ),
};

/** What commands have that ask several peers. */
export const connectionOptions: Options.Options<Connection> = Options.all(connection);

/** `--url` and everything that goes with it. */
export const serviceOptions: Options.Options<ServiceSettings> = Options.all({
  url: optionalText("url", "URL", "Address of a peer, such as http://127.0.0.1:7300. Default: CUSTODY_URL."),
  ...connection,
});

/** A URL is refused without being echoed: it may hold a password. */
const originOf = (text: string, source: string): Effect.Effect<string, CliFailure> => {
  const refuse = (why: string) =>
    Effect.fail(usageFailure(`${source} ${why}; write for example http://127.0.0.1:7300`));
  if (!URL.canParse(text)) return refuse("is not a URL");
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return refuse("begins with neither https:// nor http://");
  if (url.username !== "" || url.password !== "") return refuse("holds credentials, which do not belong there");
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    return refuse("holds more than scheme, host and port");
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    return refuse("would carry the token in clear over a network: use https://");
  }
  return Effect.succeed(url.origin);
};

const pem = (option: string, file: string | undefined, secret: boolean) =>
  file === undefined
    ? Effect.succeed(undefined)
    : readBoundedText(file, { maxBytes: maxPemBytes, secret }).pipe(
        Effect.mapError((fault) => usageFailure(`${option}: ${fault.message}`)),
      );

const loadTls = (settings: Connection): Effect.Effect<ServiceAddress["tls"], CliFailure> =>
  Effect.gen(function* () {
    if ((settings.tlsCert === undefined) !== (settings.tlsKey === undefined)) {
      return yield* usageFailure("--tls-cert and --tls-key belong together; give both or neither");
    }
    const ca = yield* pem("--tls-ca", settings.tlsCa, false);
    const cert = yield* pem("--tls-cert", settings.tlsCert, false);
    const key = yield* pem("--tls-key", settings.tlsKey, true);
    return {
      ...(ca === undefined ? {} : { ca }),
      ...(cert === undefined ? {} : { cert }),
      ...(key === undefined ? {} : { key }),
    };
  });

/**
 * Opens clients with the same token and certificates, which are read with the first. Each fails with a usage
 * {@link CliFailure} before anything is sent.
 *
 * @returns takes an address, and the option or variable that named it
 */
export const openAt = (settings: Connection, env: Readonly<Record<string, string | undefined>>) => {
  const common = Effect.all({ tls: loadTls(settings), token: loadAccessToken(settings.tokenFile, env) });
  const once = Effect.runSync(Effect.cached(common));
  return (url: string, source: string): Effect.Effect<Service, CliFailure, Scope.Scope> =>
    Effect.gen(function* () {
      const origin = yield* originOf(url, source);
      const { tls, token } = yield* once;
      return yield* openService({ origin, token, tls, timeoutMillis: settings.timeoutMillis });
    });
};

/** Opens the client the options describe; fails with a usage {@link CliFailure} before anything is sent. */
export const serviceOf = (
  settings: ServiceSettings,
  env: Readonly<Record<string, string | undefined>>,
): Effect.Effect<Service, CliFailure, Scope.Scope> => {
  const url = settings.url ?? env["CUSTODY_URL"];
  return url === undefined
    ? Effect.fail(usageFailure("no service is named; give --url or set CUSTODY_URL, for example http://127.0.0.1:7300"))
    : openAt(settings, env)(url, settings.url === undefined ? "CUSTODY_URL" : "--url");
};
