/**
 * Public keys from uncompressed points, without the multiplication that Node 20 spends on each.
 *
 * Node takes a point at once as JWK, DER or PEM only, and with each of them OpenSSL 3.0 multiplies it by
 * the order of the curve, which takes a quarter of a ceremony. On curves of prime order that says nothing
 * which the equation of the curve has not said. WebCrypto's import of a raw point leaves it out, but
 * answers later, and a step of the core does not wait. So on Node 20, and on no other line, we call what
 * WebCrypto calls, below its promise. That is no public interface: docs/decisions/0023-raw-points.md says
 * why we use it all the same and what keeps it safe.
 */
import { createPublicKey, type KeyObject } from "node:crypto";
import type { CurveName } from "../../core/webauthn/CeremonyCrypto.ts";

/**
 * The key of an uncompressed point (SEC 1 section 2.3.3: 0x04, X, Y), or undefined for any other bytes and
 * for a point that is not on the curve. Never throws.
 */
export type PointImport = (curve: CurveName, point: Uint8Array) => KeyObject | undefined;

/** What holds OpenSSL's key inside a `KeyObject`. */
interface KeyHandle {
  /** Takes the point and answers true, or answers false to what is no point of the curve. */
  readonly initECRaw: (openSslCurve: string, point: Uint8Array) => boolean;
}

/** Two constructors that Node does not export, as any key object shows them. */
interface Internals {
  readonly Handle: new () => KeyHandle;
  readonly Key: new (handle: KeyHandle) => KeyObject;
}

const openSslNames: { readonly [C in CurveName]: string } = {
  "P-256": "prime256v1",
  "P-384": "secp384r1",
  "P-521": "secp521r1",
};

/** The base point of P-256 (SP 800-186 section 3.2.1.3), a key like any other. */
const known = {
  kty: "EC",
  crv: "P-256",
  x: "axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY",
  y: "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU",
};
const knownPoint = Buffer.from([4, ...Buffer.from(known.x, "base64url"), ...Buffer.from(known.y, "base64url")]);

const isHandle = (value: unknown): value is { readonly constructor: Internals["Handle"] } =>
  typeof value === "object" && value !== null && "initECRaw" in value;

const internalsOf = (key: KeyObject): Internals | undefined => {
  const parts: ReadonlyArray<unknown> = Object.getOwnPropertySymbols(key).map((name) => Reflect.get(key, name));
  const handle = parts.find(isHandle);
  return handle && { Handle: handle.constructor, Key: key.constructor as Internals["Key"] };
};

/** The first byte is looked at here, since OpenSSL also reads compressed and hybrid points and the one at infinity. */
const importWith =
  ({ Handle, Key }: Internals): PointImport =>
  (curve, point) => {
    if (point[0] !== 4) return undefined;
    const handle = new Handle();
    return handle.initECRaw(openSslNames[curve], point) ? new Key(handle) : undefined;
  };

/**
 * The import of points for a release of Node (`process.version`: "v20.20.2"), or undefined where the public
 * interface has to do: on every other line, and where a known key does not come out equal to `reference`,
 * the same key by the public interface.
 */
export const pointImportFor = (
  release: string,
  reference: KeyObject = createPublicKey({ key: known, format: "jwk" }),
): PointImport | undefined => {
  if (!release.startsWith("v20.")) return undefined;
  try {
    const internals = internalsOf(reference);
    const importPoint = internals && importWith(internals);
    return importPoint?.("P-256", knownPoint)?.equals(reference) === true ? importPoint : undefined;
  } catch {
    // Inside, this Node looks different from the one that this was written for.
    return undefined;
  }
};
