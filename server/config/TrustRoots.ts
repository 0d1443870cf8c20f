/** The authorities whose attestation certificates are believed, from the files a configuration names. */
import { Effect, Either } from "effect";
import { trustRootFault } from "../../core/webauthn/CertificateChain.ts";
import { readBoundedFile } from "./BoundedFile.ts";
import { ConfigError, type ConfigProblem } from "./ConfigError.ts";
import type { Config } from "./ConfigSchema.ts";
import { certificatesIn, notCertificates } from "./PemCertificates.ts";

const maxFileBytes = 1024 * 1024;

const rootsOf = (file: string, path: string): Effect.Effect<ReadonlyArray<Uint8Array>, ConfigProblem> =>
  Effect.gen(function* () {
    const bytes = yield* readBoundedFile(file, { maxBytes: maxFileBytes, secret: false }).pipe(
      Effect.mapError(({ message }): ConfigProblem => ({ path, message })),
    );
    const certificates = certificatesIn(Buffer.from(bytes));
    if (certificates === undefined) return yield* Effect.fail({ path, message: `${file} ${notCertificates}` });
    const roots = certificates.map(({ raw }) => Uint8Array.from(raw));
    const fault = roots.map(trustRootFault).find((each) => each !== undefined);
    if (fault !== undefined) {
      const message = `${file} holds a certificate that cannot be a trust root; name another: ${fault}`;
      return yield* Effect.fail({ path, message });
    }
    return roots;
  });

/**
 * The certificates in all files of `webauthn.trust-roots`, in DER, each once.
 *
 * Fails with a {@link ConfigError} naming every entry whose file is missing,
 * longer than 1 MiB, or holds anything but certificates that attestation is verified with.
 */
export const loadTrustRoots = ({ webauthn }: Config): Effect.Effect<ReadonlyArray<Uint8Array>, ConfigError> =>
  Effect.gen(function* () {
    const read = yield* Effect.forEach(webauthn.trustRoots, (file, index) =>
      Effect.either(rootsOf(file, `webauthn.trust-roots.${index}`)),
    );
    const problems = read.flatMap((each) => (Either.isLeft(each) ? [each.left] : []));
    if (problems.length > 0) return yield* new ConfigError({ problems });
    const roots = read.flatMap((each) => (Either.isRight(each) ? each.right : []));
    return [...new Map(roots.map((der) => [Buffer.from(der).toString("hex"), der])).values()];
  });
