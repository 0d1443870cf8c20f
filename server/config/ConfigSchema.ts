/**
 * All settings that the configuration file of a peer may have. Keys are written with hyphens in the file; the names to
 * the left are those of the program.
 */
import { sep } from "node:path";
import { Schema } from "effect";
import { Limits } from "../../core/base/Limits.ts";
import { commands } from "../../core/commands/Commands.ts";
import { featuresOf } from "../../core/protocol/Supplies.ts";
import { isLoopbackHost } from "./Loopback.ts";
import { Origin, outsideFault, RpId, RpName } from "./RelyingPartySetting.ts";
import {
  byteSize,
  CollectorUrl,
  distinctList,
  duration,
  Flag,
  filePath,
  Host,
  integer,
  oneOf,
  PeerNumber,
  IdentityKey,
  PeerUrl,
  Port,
  Ratio,
  Text,
  TokenType,
  WebUrl,
} from "./Setting.ts";

/** Signature algorithms a token may use: asymmetric ones only (RFC 7518 3.1, RFC 8037 3.1). */
export const tokenAlgorithms = ["EdDSA", "ES256", "ES384", "RS256", "PS256"] as const;

/** The types of access tokens (RFC 7519 5.1, RFC 9068 2.1), or none: proofs, events and other JWTs name their own. */
const usualTokenTypes: ReadonlyArray<string> = ["JWT", "at+jwt", "absent"];
const mostTokenTypes = 16;

const minuteMillis = 60_000;
const hourMillis = 60 * minuteMillis;
const mebibyte = 1024 ** 2;

/** No body that is valid otherwise may be refused for want of room at a peer that holds nothing else. */
const largestBodyBytes = Math.max(Limits.requestBodyBytes, Limits.signingBodyBytes, Limits.policyBytes);

const withDefault = <A, I>(schema: Schema.Schema<A, I>, value: NoInfer<A>) =>
  Schema.optionalWith(schema, { exact: true, default: () => value });

const peer = (directory: string) =>
  Schema.Struct({
    dataDir: Schema.propertySignature(filePath(directory)).pipe(Schema.fromKey("data-dir")),
    id: Schema.optionalWith(PeerNumber, { exact: true }),
    logLevel: withDefault(oneOf("debug", "info", "warn", "error"), "info").pipe(Schema.fromKey("log-level")),
  });

const listenerTls = (directory: string) => {
  const path = filePath(directory);
  const ca = Schema.optionalWith(path, { exact: true });
  return Schema.optionalWith(Schema.Struct({ cert: path, key: path, ca }), { exact: true });
};

const listener = (directory: string, port: number) =>
  Schema.Struct({
    host: withDefault(Host, "127.0.0.1"),
    port: withDefault(Port, port),
    tls: listenerTls(directory),
  }).pipe(
    Schema.filter(({ host, tls }) =>
      tls !== undefined || isLoopbackHost(host)
        ? undefined
        : {
            path: ["tls"],
            message: "is missing although the host is not a loopback address; set cert and key, or listen on 127.0.0.1",
          },
    ),
  );

/** For scrapers of metrics, beside those of every peer. */
const metrics = (directory: string) =>
  Schema.Struct({
    host: withDefault(Host, "127.0.0.1"),
    port: Port,
    inClear: withDefault(Flag, false).pipe(Schema.fromKey("in-clear")),
    tls: listenerTls(directory),
  }).pipe(
    Schema.filter(({ host, tls, inClear }) =>
      tls !== undefined || inClear || isLoopbackHost(host)
        ? undefined
        : {
            path: ["tls"],
            message:
              "is missing although the host is not a loopback address; set cert and key, listen on 127.0.0.1, or set in-clear to true where everybody on that network may read metrics",
          },
    ),
  );

const signals = ["traces", "metrics"] as const;

/** Traces and metrics over OTLP/HTTP, for a collector beside the scraper or instead of one. */
const telemetry = (directory: string) =>
  Schema.Struct({
    otlpEndpoint: Schema.propertySignature(CollectorUrl).pipe(Schema.fromKey("otlp-endpoint")),
    inClear: withDefault(Flag, false).pipe(Schema.fromKey("in-clear")),
    headersFile: Schema.optionalWith(filePath(directory), { exact: true }).pipe(Schema.fromKey("headers-file")),
    signals: withDefault(distinctList(oneOf(...signals), 1, signals.length), signals),
    samplingRatio: withDefault(Ratio, 1).pipe(Schema.fromKey("sampling-ratio")),
    exportIntervalMillis: withDefault(duration(1000, hourMillis, "1s to 1h"), 10_000).pipe(
      Schema.fromKey("export-interval"),
    ),
  }).pipe(
    Schema.filter(({ otlpEndpoint, inClear, headersFile }) => {
      const url = new URL(otlpEndpoint);
      if (url.protocol === "https:" || isLoopbackHost(url.hostname)) return undefined;
      if (headersFile !== undefined)
        return { path: ["headers-file"], message: "would be sent without TLS; use https:// in otlp-endpoint" };
      if (inClear) return undefined;
      const message =
        "has no TLS and is not a loopback address; use https://, or set in-clear to true where everybody on that network may read telemetry";
      return { path: ["otlp-endpoint"], message };
    }),
  );

/** Another peer: its id, as `init` gives it to that peer, and the address of its peer API. */
const OtherPeer = Schema.Struct({ id: PeerNumber, url: PeerUrl });

const peersSentence = `must be a list of at most ${Limits.members - 1} peers, each with an id and a url of its own; name every other peer once`;

const OtherPeers = Schema.Array(OtherPeer)
  .annotations({ message: () => peersSentence })
  .pipe(
    Schema.filter(
      (peers) =>
        peers.length < Limits.members &&
        new Set(peers.map((each) => each.id)).size === peers.length &&
        new Set(peers.map((each) => each.url)).size === peers.length,
      { message: () => peersSentence },
    ),
  );

/** The instance that may make this peer a member of its cluster, and the key that it has to have. */
const Source = Schema.Struct({
  id: PeerNumber,
  identityKey: Schema.propertySignature(IdentityKey).pipe(Schema.fromKey("identity-key")),
});

const cluster = (directory: string) =>
  Schema.Struct({
    peers: withDefault(OtherPeers, []),
    bootstrapSecret: Schema.optionalWith(
      Schema.Struct({ file: filePath(directory) }).annotations({
        message: () =>
          "must name a file and never holds the secret itself; write `file: PATH` below it or set CUSTODY_BOOTSTRAP_SECRET",
      }),
      { exact: true },
    ).pipe(Schema.fromKey("bootstrap-secret")),
    source: Schema.optionalWith(Source, { exact: true }),
  }).pipe(
    Schema.filter(({ peers, source }) =>
      source === undefined || peers.some(({ id }) => id === source.id)
        ? undefined
        : { path: ["source", "id"], message: "is not among cluster.peers; list the source there, with its url" },
    ),
  );

const auth = (directory: string) =>
  Schema.Struct({
    audience: Text,
    issuer: Schema.optionalWith(Text, { exact: true }),
    jwks: Schema.Struct({
      file: Schema.optionalWith(filePath(directory), { exact: true }),
      url: Schema.optionalWith(WebUrl, { exact: true }),
    }).pipe(
      Schema.filter(({ file, url }) =>
        (file === undefined) === (url === undefined) ? "must hold exactly one of file and url; keep one" : undefined,
      ),
    ),
    jwksMaxAgeMillis: withDefault(duration(minuteMillis, 168 * hourMillis, "1m to 7d"), 24 * hourMillis).pipe(
      Schema.fromKey("jwks-max-age"),
    ),
    algorithms: withDefault(distinctList(oneOf(...tokenAlgorithms), 1, tokenAlgorithms.length), tokenAlgorithms),
    tokenTypes: withDefault(distinctList(TokenType, 1, mostTokenTypes), usualTokenTypes).pipe(
      Schema.fromKey("token-types"),
    ),
  });

const seal = Schema.Struct({
  provider: withDefault(oneOf("shamir"), "shamir"),
  shares: withDefault(integer(2, 255), 5),
  threshold: withDefault(integer(2, 255), 3),
}).pipe(
  Schema.filter(({ shares, threshold }) =>
    threshold <= shares
      ? undefined
      : { path: ["threshold"], message: "is larger than the number of shares; lower it or raise seal.shares" },
  ),
);

/** The most origins and the most files of trust roots; a session pins the origins on every peer. */
const mostOrigins = 16;
const mostTrustRootFiles = 32;

const webauthn = (directory: string) =>
  Schema.Struct({
    enabled: withDefault(Flag, false),
    rpId: Schema.optionalWith(RpId, { exact: true }).pipe(Schema.fromKey("rp-id")),
    rpName: Schema.optionalWith(RpName, { exact: true }).pipe(Schema.fromKey("rp-name")),
    origins: withDefault(distinctList(Origin, 0, mostOrigins), []),
    registrationTtlMillis: withDefault(
      duration(1000, Limits.registrationTtlMillis, "1s to 10m"),
      5 * minuteMillis,
    ).pipe(Schema.fromKey("registration-ttl")),
    attestation: withDefault(oneOf("none", "indirect", "direct"), "none"),
    trustRoots: withDefault(distinctList(filePath(directory), 0, mostTrustRootFiles), []).pipe(
      Schema.fromKey("trust-roots"),
    ),
  }).pipe(
    Schema.filter(({ enabled, rpId, rpName, origins }) => {
      const outside = origins.flatMap((origin, index) => {
        const message = rpId === undefined ? undefined : outsideFault(origin, rpId);
        return message === undefined ? [] : [{ path: ["origins", index], message }];
      });
      if (!enabled) return outside;
      const message = "is required while webauthn.enabled is true; set it, or set enabled to false";
      return [
        ...(rpId === undefined ? [{ path: ["rp-id"], message }] : []),
        ...(rpName === undefined ? [{ path: ["rp-name"], message }] : []),
        ...(origins.length === 0 ? [{ path: ["origins"], message }] : []),
        ...outside,
      ];
    }),
  );

/** The features that a configuration may demand: those that this program has. */
const [core = "core", ...others] = featuresOf(commands.modules);

const audit = (directory: string) =>
  Schema.Struct({
    sinks: Schema.Struct({
      stdout: withDefault(Flag, false),
      file: Schema.optionalWith(
        Schema.Struct({
          path: filePath(directory),
          maxBytes: withDefault(byteSize(64 * 1024, 1024 * mebibyte, "64KiB to 1GiB"), 64 * mebibyte).pipe(
            Schema.fromKey("max-size"),
          ),
          keep: withDefault(integer(1, 1000), 16),
        }),
        { exact: true },
      ),
    }),
  });

const sections = (directory: string) =>
  Schema.Struct({
    peer: peer(directory),
    http: listener(directory, 7300),
    peerHttp: Schema.propertySignature(listener(directory, 7400)).pipe(Schema.fromKey("peer-http")),
    metrics: Schema.optionalWith(metrics(directory), { exact: true }),
    telemetry: Schema.optionalWith(telemetry(directory), { exact: true }),
    cluster: cluster(directory),
    auth: auth(directory),
    seal,
    approvers: Schema.Struct({
      answerTimeoutMillis: withDefault(duration(1000, minuteMillis, "1s to 1m"), Limits.answerMillis).pipe(
        Schema.fromKey("answer-timeout"),
      ),
    }),
    features: withDefault(distinctList(oneOf(core, ...others), 0, 1 + others.length), ["core"]),
    authorities: Schema.Struct({ arbitrary: withDefault(Flag, true) }),
    crypto: Schema.Struct({ backend: withDefault(oneOf("native", "portable"), "native") }),
    webauthn: webauthn(directory),
    audit: audit(directory),
    limits: Schema.Struct({
      bodyBytesInFlight: withDefault(byteSize(largestBodyBytes, 4096 * mebibyte, "10MiB to 4GiB"), 64 * mebibyte).pipe(
        Schema.fromKey("body-bytes-in-flight"),
      ),
      bodyBytesPerActor: withDefault(byteSize(largestBodyBytes, 4096 * mebibyte, "10MiB to 4GiB"), 12 * mebibyte).pipe(
        Schema.fromKey("body-bytes-per-actor"),
      ),
      bodyBytesPerAddress: withDefault(
        byteSize(largestBodyBytes, 4096 * mebibyte, "10MiB to 4GiB"),
        16 * mebibyte,
      ).pipe(Schema.fromKey("body-bytes-per-address")),
      connections: withDefault(integer(32, 65_535), 2048),
      connectionsPerAddress: withDefault(integer(8, 65_535), 256).pipe(Schema.fromKey("connections-per-address")),
      requestsPerConnection: withDefault(integer(1, 1024), 32).pipe(Schema.fromKey("requests-per-connection")),
      idleTimeoutMillis: withDefault(duration(1000, 10 * minuteMillis, "1s to 10m"), 75_000).pipe(
        Schema.fromKey("idle-timeout"),
      ),
      drainDelayMillis: Schema.optionalWith(duration(1, minuteMillis, "1ms to 1m"), { exact: true }).pipe(
        Schema.fromKey("drain-delay"),
      ),
      writeTimeoutMillis: withDefault(duration(1000, 5 * minuteMillis, "1s to 5m"), 30_000).pipe(
        Schema.fromKey("write-timeout"),
      ),
    }),
    development: withDefault(Flag, false),
  });

type Sections = Schema.Schema.Type<ReturnType<typeof sections>>;

const developmentFaults = (config: Sections): ReadonlyArray<Schema.FilterIssue> => {
  if (!config.development) return [];
  const message = "must be a loopback address in a development cluster; use 127.0.0.1 or remove development";
  const listeners = (["http", "peerHttp"] as const).flatMap((name) =>
    isLoopbackHost(config[name].host) ? [] : [{ path: [name === "http" ? "http" : "peer-http", "host"], message }],
  );
  const ofMetrics =
    config.metrics === undefined || isLoopbackHost(config.metrics.host) ? [] : [{ path: ["metrics", "host"], message }];
  const peers = config.cluster.peers.flatMap(({ url }, index) =>
    isLoopbackHost(new URL(url).hostname) ? [] : [{ path: ["cluster", "peers", index, "url"], message }],
  );
  return [...listeners, ...ofMetrics, ...peers];
};

const portFaults = ({ http, peerHttp, metrics: own }: Sections): ReadonlyArray<Schema.FilterIssue> => [
  ...(http.port !== 0 && http.port === peerHttp.port
    ? [{ path: ["peer-http", "port"], message: "is the port of http too; give the peer API a port of its own" }]
    : []),
  ...(own !== undefined && own.port !== 0 && [http.port, peerHttp.port].includes(own.port)
    ? [{ path: ["metrics", "port"], message: "is the port of http or peer-http too; give metrics a port of their own" }]
    : []),
];

/** Peers list the others: who lists itself would wait for a member that never comes. */
const ownFaults = ({ peer: { id }, peerHttp, cluster: { peers } }: Sections): ReadonlyArray<Schema.FilterIssue> =>
  peers.flatMap((each, index) => {
    const { hostname, port, protocol } = new URL(each.url);
    const isHere =
      hostname.replace(/^\[|\]$/g, "") === peerHttp.host.toLowerCase() &&
      (port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)) === peerHttp.port;
    const at = ["cluster", "peers", index];
    return [
      ...(each.id === id
        ? [{ path: [...at, "id"], message: "is this peer's own peer.id; list the other peers only" }]
        : []),
      ...(isHere
        ? [{ path: [...at, "url"], message: "is where this peer's own peer-http listens; list the other peers only" }]
        : []),
    ];
  });

/** A sink cuts its file and renames it: no file of the peer itself may be one. */
const sinkFaults = ({ peer: { dataDir }, audit: { sinks } }: Sections): ReadonlyArray<Schema.FilterIssue> =>
  sinks.file !== undefined && sinks.file.path.startsWith(`${dataDir}${sep}`)
    ? [
        {
          path: ["audit", "sinks", "file", "path"],
          message: "is in the data directory, which has no files but the peer's own; name a file elsewhere",
        },
      ]
    : [];

/**
 * The schema of the configuration file.
 *
 * @param directory the folder from which relative paths count
 */
export const configSchema = (directory: string) =>
  sections(directory).pipe(
    Schema.filter((config) => [
      ...developmentFaults(config),
      ...portFaults(config),
      ...ownFaults(config),
      ...sinkFaults(config),
    ]),
  );

/** The configuration of one peer: defaults filled in, paths absolute, durations in milliseconds, sizes in bytes. */
export type Config = Schema.Schema.Type<ReturnType<typeof configSchema>>;

/** A listener of a peer and, when it has TLS, the absolute paths of its PEM files. */
export type ListenerConfig = Config["http"];
