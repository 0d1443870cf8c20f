/** The relying party: what a cluster enrolls passkeys for. Configuration, identical on every peer (contract 4.1.3). */
import { Either, Encoding } from "effect";
import type { CanonicalValue } from "../codec/CanonicalJson.ts";
import { utf8Length } from "../codec/Utf8.ts";
import { Limits } from "../Limits.ts";
import { domainFault, originUnder } from "./Origin.ts";

export const attestationConveyances = ["none", "indirect", "direct"] as const;
/** What browsers are asked to do with the attestation (WebAuthn Level 3 section 5.4.7). */
export type AttestationConveyance = (typeof attestationConveyances)[number];

/** The settings as configured, nothing looked at yet. */
export interface RelyingPartySettings {
  readonly rpId: string;
  readonly rpName: string;
  readonly origins: ReadonlyArray<string>;
  readonly registrationTtlMillis: number;
  readonly attestation: AttestationConveyance;
  /** DER certificates in any order. */
  readonly trustRoots: ReadonlyArray<Uint8Array>;
}

/** Settings that were checked; origins and roots are sorted and distinct. */
export type RelyingParty = RelyingPartySettings & { readonly RelyingParty: unique symbol };

/** One setting at fault. */
export interface SettingFault {
  /** The key below `webauthn`, with an index for an item of a list. */
  readonly setting: string;
  /** The offending value as configured, cut where it is very long; it is no secret. */
  readonly value: string;
  /** What is wrong; what to do. */
  readonly detail: string;
}

const SHOWN_CHARACTERS = 128;

const fault = (setting: string, value: string, detail: string): SettingFault => ({
  setting,
  value: value.length > SHOWN_CHARACTERS ? `${value.slice(0, SHOWN_CHARACTERS)}…` : value,
  detail,
});

/**
 * Checks the settings of a relying party.
 *
 * @returns the relying party with its origins sorted; or every fault, each naming its setting and value
 */
export const relyingPartyOf = (
  settings: RelyingPartySettings,
): Either.Either<RelyingParty, ReadonlyArray<SettingFault>> => {
  const faults = [...idFaults(settings), ...nameFaults(settings), ...originFaults(settings), ...lifeFaults(settings)];
  if (settings.trustRoots.length > Limits.trustRoots)
    faults.push(fault("trust-roots", `${settings.trustRoots.length} roots`, `are more than ${Limits.trustRoots}`));
  if (faults.length > 0) return Either.left(faults);
  const checked: RelyingPartySettings = {
    ...settings,
    // By UTF-16 code units; origins are ASCII, so by bytes as well.
    origins: [...settings.origins].toSorted((left, right) => (left < right ? -1 : 1)),
    trustRoots: distinctRoots(settings.trustRoots),
  };
  // The brand says that the checks above were made.
  return Either.right(checked as RelyingParty);
};

const idFaults = ({ rpId }: RelyingPartySettings): ReadonlyArray<SettingFault> => {
  const detail = domainFault(rpId);
  return detail === undefined ? [] : [fault("rp-id", rpId, detail)];
};

const nameFaults = ({ rpName }: RelyingPartySettings): ReadonlyArray<SettingFault> =>
  /^[^\p{Cc}\p{Cs}]+$/u.test(rpName) && (utf8Length(rpName) ?? 0) <= Limits.relyingPartyNameBytes
    ? []
    : [fault("rp-name", rpName, `must be 1 to ${Limits.relyingPartyNameBytes} bytes of printable text`)];

const originFaults = ({ rpId, origins }: RelyingPartySettings): ReadonlyArray<SettingFault> => {
  if (origins.length === 0 || origins.length > Limits.origins)
    return [fault("origins", `${origins.length} origins`, `list 1 to ${Limits.origins} origins`)];
  return origins.flatMap((origin, index) => {
    const setting = `origins[${index}]`;
    if (origins.indexOf(origin) !== index) return [fault(setting, origin, "is listed twice; list it once")];
    return Either.match(originUnder(rpId, origin), {
      onLeft: (detail) => [fault(setting, origin, detail)],
      onRight: () => [],
    });
  });
};

const lifeFaults = ({ registrationTtlMillis: millis }: RelyingPartySettings): ReadonlyArray<SettingFault> =>
  Number.isSafeInteger(millis) && millis >= 1_000 && millis <= Limits.longestRegistrationMillis
    ? []
    : [fault("registration-ttl", `${millis} ms`, "must be 1s to 10m")];

const distinctRoots = (roots: ReadonlyArray<Uint8Array>): ReadonlyArray<Uint8Array> => {
  const byText = new Map(roots.map((root) => [Encoding.encodeBase64Url(root), root]));
  return [...byText].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, root]) => root);
};

/**
 * What of the relying party every peer must have alike, for the configuration digest.
 *
 * @param relyingParty undefined while enrollment is disabled
 */
export const relyingPartyCanonical = (relyingParty: RelyingParty | undefined): CanonicalValue =>
  relyingParty === undefined
    ? { enabled: false }
    : {
        enabled: true,
        rpId: relyingParty.rpId,
        rpName: relyingParty.rpName,
        origins: relyingParty.origins,
        registrationTtlMillis: relyingParty.registrationTtlMillis,
        attestation: relyingParty.attestation,
        trustRoots: relyingParty.trustRoots.map((root) => Encoding.encodeBase64Url(root)),
      };
