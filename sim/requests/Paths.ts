/** Where requests go (contract 4), written out as callers know it. */
export const REGISTER_PATH = "/v1/custody/approvers";
export const OPTIONS_PATH = `${REGISTER_PATH}/webauthn/registration/options`;
export const FINISH_PATH = `${REGISTER_PATH}/webauthn/registration/finish`;

export const metadataPath = (ref: string): string => `${REGISTER_PATH}/${encodeURIComponent(ref)}/metadata`;
export const KEYS_PATH = "/v1/custody/keys";
