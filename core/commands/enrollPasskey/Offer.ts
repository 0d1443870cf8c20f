/** A session as its registrar is told of it (contract 4.1, "Options response"). */
import type { CreationOptions } from "../../webauthn/CreationOptions.ts";

export interface Offer {
  /** Both unpadded Base64url. */
  readonly registrationId: string;
  readonly invitation: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  readonly publicKey: CreationOptions;
}

/** Every member keeps the session; only the registrar is ever told the invitation. */
export interface OptionsAnswer {
  readonly _tag: "Offered";
  readonly offer: Offer;
}
