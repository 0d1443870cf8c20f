/** Certificates and keys for both listeners and for calls to other peers, checked before anything listens. */
import { createPrivateKey, type KeyObject } from "node:crypto";
import { createSecureContext, type SecureVersion } from "node:tls";
import { Effect, Either } from "effect";
import { type FileFault, readBoundedFile } from "../config/BoundedFile.ts";
import { ConfigError, type ConfigProblem } from "../config/ConfigError.ts";
import type { Config, ListenerConfig } from "../config/ConfigSchema.ts";
import { certificatesIn, notCertificates } from "../config/PemCertificates.ts";

/** The options of a listener of `node:https`. */
export interface ListenerTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  /** Authorities of callers' certificates; with them, a caller without one is turned away. */
  readonly ca?: Buffer;
  readonly requestCert: boolean;
  readonly rejectUnauthorized: boolean;
  readonly minVersion: SecureVersion;
}

/** The options of a request to another peer. */
export interface PeerClientTls {
  /** This peer's certificate and key, shown when the other peer asks. */
  readonly cert?: Buffer;
  readonly key?: Buffer;
  /** The only authorities trusted; without them, those of the system. */
  readonly ca?: Buffer;
  readonly rejectUnauthorized: true;
  readonly minVersion: SecureVersion;
}

export interface TlsMaterial {
  /** Undefined for a listener in clear, which the configuration allows on loopback only. */
  readonly http: ListenerTls | undefined;
  readonly peerHttp: ListenerTls | undefined;
  readonly metrics: ListenerTls | undefined;
  readonly peerClient: PeerClientTls;
}

/** A listener with certificates, as the configuration names it. */
export type ListenerName = "http" | "peer-http" | "metrics";

type ListenerFiles = Pick<ListenerConfig, "tls">;

/** All listeners with what names their files. */
export const listenersOf = (config: Config): ReadonlyArray<readonly [ListenerName, ListenerFiles]> => [
  ["http", config.http],
  ["peer-http", config.peerHttp],
  ["metrics", config.metrics ?? {}],
];

const certificateBytes = 256 * 1024;
const keyBytes = 64 * 1024;
const authorityBytes = 1024 * 1024;

/** Both ends of a call between peers are this product, so there is nothing older to be compatible with. */
const peerVersion: SecureVersion = "TLSv1.3";
const publicVersion: SecureVersion = "TLSv1.2";

const privateKeyIn = (pem: Buffer): Either.Either<KeyObject, string> => {
  try {
    return Either.right(createPrivateKey(pem));
  } catch {
    // Both PEM forms of an encrypted key say so in clear (RFC 7468 11, RFC 1421 4.6.1.1).
    return Either.left(
      pem.includes("ENCRYPTED")
        ? "is encrypted; store it without a passphrase and run chmod 600 on it"
        : "holds no PEM private key; name a file with a BEGIN PRIVATE KEY block",
    );
  }
};

interface PemFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer | undefined;
}

/** The faults of one listener's files, by the last key of the path. */
const pemProblems = ({ cert, key, ca }: PemFiles): ReadonlyArray<readonly [keyof PemFiles, string]> => {
  const problems: Array<readonly [keyof PemFiles, string]> = [];
  const [leaf] = certificatesIn(cert) ?? [];
  if (leaf === undefined) problems.push(["cert", notCertificates]);
  const privateKey = privateKeyIn(key);
  if (Either.isLeft(privateKey)) problems.push(["key", privateKey.left]);
  if (ca !== undefined && certificatesIn(ca) === undefined) problems.push(["ca", notCertificates]);
  if (problems.length > 0) return problems;
  if (leaf !== undefined && Either.isRight(privateKey) && !leaf.checkPrivateKey(privateKey.right)) {
    return [["key", "does not belong to the first certificate of the cert file; name the key it was issued for"]];
  }
  try {
    createSecureContext({ cert, key, ...(ca === undefined ? {} : { ca }) });
    return [];
  } catch {
    return [["cert", "is not accepted by the TLS library; use a certificate with an ECDSA P-256 or RSA 2048 key"]];
  }
};

const readPem = (problemPath: string, file: string, maxBytes: number, secret: boolean) =>
  readBoundedFile(file, { maxBytes, secret }).pipe(
    Effect.map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)),
    Effect.mapError((fault: FileFault): ConfigProblem => ({ path: problemPath, message: fault.message })),
    Effect.either,
  );

/** The files of one listener; undefined when it has no TLS. */
const loadListener = (
  name: ListenerName,
  { tls }: ListenerFiles,
): Effect.Effect<Either.Either<PemFiles | undefined, ReadonlyArray<ConfigProblem>>> =>
  Effect.gen(function* () {
    if (tls === undefined) return Either.right(undefined);
    const path = `${name}.tls`;
    const cert = yield* readPem(`${path}.cert`, tls.cert, certificateBytes, false);
    const key = yield* readPem(`${path}.key`, tls.key, keyBytes, true);
    const ca =
      tls.ca === undefined ? Either.right(undefined) : yield* readPem(`${path}.ca`, tls.ca, authorityBytes, false);
    if (Either.isLeft(cert) || Either.isLeft(key) || Either.isLeft(ca)) {
      return Either.left([cert, key, ca].flatMap((read) => (Either.isLeft(read) ? [read.left] : [])));
    }
    const files = { cert: cert.right, key: key.right, ca: ca.right };
    const problems = pemProblems(files).map(([last, message]) => ({
      path: `${path}.${last}`,
      message: `${tls[last]} ${message}`,
    }));
    return problems.length === 0 ? Either.right(files) : Either.left(problems);
  });

const listenerTls = (files: PemFiles | undefined, minVersion: SecureVersion): ListenerTls | undefined => {
  if (files === undefined) return undefined;
  const { cert, key, ca } = files;
  const mutual = ca !== undefined;
  return { cert, key, ...(mutual ? { ca } : {}), requestCert: mutual, rejectUnauthorized: mutual, minVersion };
};

const peerClientTls = (files: PemFiles | undefined): PeerClientTls => ({
  ...(files === undefined ? {} : { cert: files.cert, key: files.key }),
  ...(files?.ca === undefined ? {} : { ca: files.ca }),
  rejectUnauthorized: true,
  minVersion: peerVersion,
});

/** What the files of a listener come to: its own options, and for that of the peers those of calls to them. */
const materialOf = (name: ListenerName, files: PemFiles | undefined): Partial<TlsMaterial> => {
  switch (name) {
    case "http":
      return { http: listenerTls(files, publicVersion) };
    case "peer-http":
      return { peerHttp: listenerTls(files, peerVersion), peerClient: peerClientTls(files) };
    case "metrics":
      return { metrics: listenerTls(files, publicVersion) };
  }
};

/** Reads the PEM files of one listener: what they come to, or what is wrong with them. */
export const loadMaterial = (
  name: ListenerName,
  files: ListenerFiles,
): Effect.Effect<Either.Either<Partial<TlsMaterial>, ReadonlyArray<ConfigProblem>>> =>
  Effect.map(
    loadListener(name, files),
    Either.map((loaded) => materialOf(name, loaded)),
  );

/**
 * Reads the PEM files of a configuration.
 *
 * `peer-http.tls` serves three purposes: the listener, the certificate shown to
 * other peers, and, with `ca`, the authorities trusted in both directions.
 *
 * Fails with a {@link ConfigError} naming every key whose file is missing, too
 * long (256 KiB, 64 KiB for a key, 1 MiB for ca), a key open to everyone,
 * malformed, encrypted, or not a pair with its certificate.
 */
export const loadTls = (config: Config): Effect.Effect<TlsMaterial, ConfigError> =>
  Effect.gen(function* () {
    const http = yield* loadListener("http", config.http);
    const peerHttp = yield* loadListener("peer-http", config.peerHttp);
    const metrics = yield* loadListener("metrics", config.metrics ?? {});
    if (Either.isLeft(http) || Either.isLeft(peerHttp) || Either.isLeft(metrics)) {
      const problems = [http, peerHttp, metrics].flatMap((loaded) => (Either.isLeft(loaded) ? loaded.left : []));
      return yield* new ConfigError({ problems });
    }
    return {
      http: listenerTls(http.right, publicVersion),
      peerHttp: listenerTls(peerHttp.right, peerVersion),
      metrics: listenerTls(metrics.right, publicVersion),
      peerClient: peerClientTls(peerHttp.right),
    };
  });

/** When the certificate of each listener with TLS ends, in Unix milliseconds. */
export const expiries = ({
  http,
  peerHttp,
  metrics,
}: TlsMaterial): ReadonlyArray<{ readonly listener: string; readonly expiresAt: number }> =>
  Object.entries({ http, "peer-http": peerHttp, metrics }).flatMap(([name, tls]) => {
    const [leaf] = tls === undefined ? [] : (certificatesIn(tls.cert) ?? []);
    return leaf === undefined ? [] : [{ listener: name, expiresAt: Date.parse(leaf.validTo) }];
  });
