/** The certificates that a configuration names: whether they fit together, and how long they are good. */
import type { X509Certificate } from "node:crypto";
import { Effect, Either } from "effect";
import { readBoundedFile } from "../config/BoundedFile.ts";
import { ConfigError, type ConfigProblem } from "../config/ConfigError.ts";
import type { Config, ListenerConfig } from "../config/ConfigSchema.ts";
import { certificatesIn } from "../config/PemCertificates.ts";
import { type ListenerName, listenersOf, loadMaterial, loadTls, type TlsMaterial } from "./TlsMaterial.ts";

/** One certificate of a file that a configuration names. */
export interface NamedCertificate {
  /** The key of the configuration, such as `peer-http.tls.cert`. */
  readonly path: string;
  readonly file: string;
  /** Its subject in one line, or its alternative names where it has none; chosen by whoever issued it. */
  readonly subject: string;
  /** Unix milliseconds. */
  readonly validFrom: number;
  readonly expiresAt: number;
}

export interface CertificateFindings {
  readonly certificates: ReadonlyArray<NamedCertificate>;
  readonly problems: ReadonlyArray<ConfigProblem>;
  readonly warnings: ReadonlyArray<ConfigProblem>;
}

const mostBytes = 1024 * 1024;
const dayMillis = 86_400_000;
/** A certificate that expires sooner is worth a warning. */
export const SOON_MILLIS = 30 * dayMillis;
/** Longer chains are refused by TLS libraries too. */
const MOST_LINKS = 8;

/** RFC 5280 4.2.1.12. */
const serverUse = "1.3.6.1.5.5.7.3.1";
const clientUse = "1.3.6.1.5.5.7.3.2";

const day = (millis: number): string => new Date(millis).toISOString().slice(0, 10);

const issued = (certificate: X509Certificate, by: X509Certificate): boolean =>
  certificate.checkIssued(by) && certificate.verify(by.publicKey);

/** Whether a chain leads from its first certificate to one of the authorities. */
const leadsTo = (chain: ReadonlyArray<X509Certificate>, authorities: ReadonlyArray<X509Certificate>): boolean => {
  let [current] = chain;
  for (let links = 0; current !== undefined && links < MOST_LINKS; links += 1) {
    const link: X509Certificate = current;
    if (authorities.some((each) => each.fingerprint256 === link.fingerprint256 || issued(link, each))) return true;
    current = chain.find((each) => each.fingerprint256 !== link.fingerprint256 && issued(link, each));
  }
  return false;
};

/** The certificates of a file; none where it cannot be read, which the loading of TLS says already. */
const readCertificates = (file: string | undefined): Effect.Effect<ReadonlyArray<X509Certificate>> =>
  file === undefined
    ? Effect.succeed([])
    : readBoundedFile(file, { maxBytes: mostBytes, secret: false }).pipe(
        Effect.map((bytes) => certificatesIn(Buffer.from(bytes)) ?? []),
        Effect.catchAll(() => Effect.succeed([])),
      );

/** A subject may be empty (RFC 5280 4.1.2.6): then there is none in Node 20, against its types, and "" in later ones. */
const nameOf = ({ subject, subjectAltName }: X509Certificate): string => {
  const text = (subject as string | undefined) ?? "";
  return text === "" ? (subjectAltName ?? "a certificate without a name") : text.replaceAll("\n", ", ");
};

const named =
  (path: string, file: string) =>
  (certificate: X509Certificate): NamedCertificate => ({
    path,
    file,
    subject: nameOf(certificate),
    validFrom: Date.parse(certificate.validFrom),
    expiresAt: Date.parse(certificate.validTo),
  });

/** What is wrong with the dates of a certificate now, and whether it is only going to be. */
const dateFault = (
  { validFrom, expiresAt }: NamedCertificate,
  now: number,
): { readonly message: string; readonly isSoon: boolean } | undefined => {
  if (now >= expiresAt)
    return { message: `expired on ${day(expiresAt)}; renew it, and send SIGHUP to a running peer`, isSoon: false };
  if (now < validFrom)
    return { message: `is not valid before ${day(validFrom)}; check the clock of this machine`, isSoon: false };
  if (expiresAt - now < SOON_MILLIS)
    return { message: `expires on ${day(expiresAt)}; renew it, and send SIGHUP to a running peer`, isSoon: true };
  return undefined;
};

const fitFaults = (
  name: string,
  chain: ReadonlyArray<X509Certificate>,
  authorities: ReadonlyArray<X509Certificate>,
): ReadonlyArray<string> => {
  const [leaf] = chain;
  if (leaf === undefined || name !== "peer-http" || authorities.length === 0) return [];
  const missing = [serverUse, clientUse].filter((use) => leaf.keyUsage !== undefined && !leaf.keyUsage.includes(use));
  return [
    ...(leadsTo(chain, authorities)
      ? []
      : [
          "is not issued by an authority of peer-http.tls.ca, so the other peers refuse it; add what lies between, or name its authority",
        ]),
    ...(missing.length === 0
      ? []
      : ["is not good for both server and client (extended key usage), and a peer is both; have it issued for both"]),
  ];
};

const ofListener = (
  name: string,
  { tls }: Pick<ListenerConfig, "tls">,
  now: number,
): Effect.Effect<CertificateFindings> =>
  Effect.gen(function* () {
    if (tls === undefined) return { certificates: [], problems: [], warnings: [] };
    const chain = yield* readCertificates(tls.cert);
    const authorities = yield* readCertificates(tls.ca);
    const certificates = [
      ...chain.map(named(`${name}.tls.cert`, tls.cert)),
      ...authorities.map(named(`${name}.tls.ca`, tls.ca ?? "")),
    ];
    const dated = certificates.flatMap((each) => {
      const fault = dateFault(each, now);
      if (fault === undefined) return [];
      // One authority of several may go out of use.
      const isSoon = fault.isSoon || (each.path.endsWith(".ca") && authorities.length > 1);
      return [{ path: each.path, message: `${each.file}: ${each.subject} ${fault.message}`, isSoon }];
    });
    const bare = (isSoon: boolean): ReadonlyArray<ConfigProblem> =>
      dated.filter((each) => each.isSoon === isSoon).map(({ path, message }) => ({ path, message }));
    const fit = fitFaults(name, chain, authorities).map((message) => ({
      path: `${name}.tls.cert`,
      message: `${tls.cert} ${message}`,
    }));
    return { certificates, problems: [...fit, ...bare(false)], warnings: bare(true) };
  });

/**
 * Every certificate under `http.tls`, `peer-http.tls` and `metrics.tls`, and what is wrong with them beyond what the loading of TLS
 * refuses: a chain that does not lead to the authority that peers trust, a use that is missing, dates. Never fails: a
 * file that cannot be read is left out.
 *
 * @param now Unix milliseconds
 */
export const certificatesOf = (config: Config, now: number): Effect.Effect<CertificateFindings> =>
  Effect.map(
    Effect.forEach(listenersOf(config), ([name, files]) => ofListener(name, files, now)),
    (found) => ({
      certificates: found.flatMap((each) => each.certificates),
      problems: found.flatMap((each) => each.problems),
      warnings: found.flatMap((each) => each.warnings),
    }),
  );

/**
 * Reads the PEM files of a configuration as `loadTls` does, for a peer to use now.
 *
 * Fails with a {@link ConfigError} also where a certificate is expired or not valid yet, or does not fit the authority
 * of the peers: with it this peer would only be cut off, and the reason would stand in the logs of the others.
 *
 * @param now Unix milliseconds
 */
export const loadUsableTls = (config: Config, now: number): Effect.Effect<TlsMaterial, ConfigError> =>
  Effect.gen(function* () {
    const tls = yield* loadTls(config);
    const { problems } = yield* certificatesOf(config, now);
    return problems.length === 0 ? tls : yield* new ConfigError({ problems });
  });

/** New certificates for a running peer. */
export interface RenewedTls {
  /** Of the listeners whose files can be used; that of the peers comes with the options of calls to them. */
  readonly material: Partial<TlsMaterial>;
  /** The other listeners, which go on with what they have, and why. */
  readonly kept: ReadonlyMap<ListenerName, ConfigError>;
}

/**
 * Reads the PEM files of a configuration, as {@link loadUsableTls} does, for each listener by itself: an old
 * certificate of one keeps no renewed one of another out.
 *
 * @param now Unix milliseconds
 */
export const renewedTls = (config: Config, now: number): Effect.Effect<RenewedTls> =>
  Effect.gen(function* () {
    const kept = new Map<ListenerName, ConfigError>();
    let material: Partial<TlsMaterial> = {};
    for (const [name, files] of listenersOf(config)) {
      const loaded = yield* loadMaterial(name, files);
      const problems = Either.isLeft(loaded) ? loaded.left : (yield* ofListener(name, files, now)).problems;
      if (problems.length > 0) kept.set(name, new ConfigError({ problems }));
      else material = { ...material, ...Either.getOrElse(loaded, () => ({})) };
    }
    return { material, kept };
  });
