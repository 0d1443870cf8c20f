/**
 * What rows have in common, in the encodings of today: read off rows of registrations, enrollments and replacements,
 * without what differs between them. It is part of the form of stored rows and never changes (RowForm.ts); a row of
 * which nothing is here any more takes more bytes, and is no less right.
 */
const parts = [
  // Certificate of a registration: proposal, effects, descriptor, request, times.
  "\x82\x02\xa2\x00\x82\x02\xaf\x00X ",
  "\x01\x01\x02\x19",
  "\x03X ",
  "\x04X ",
  "\x05\x01\x06hREGISTER\x07Y\x01",
  "\x82\x02\xa1\x00\xa8\x00v",
  "\x01x^",
  "@sha256:",
  '\x02xs{"algorithm":"ED25519","publicKey64":"',
  '=","type":"SIGNATURE","version":1}\x03X ',
  "\x05\x01\x06\x1b\x00\x00\x01",
  "\x07\x1b\x00\x00\x01",
  "\x08\xa3\x00",
  "\x01hoperator\x02x ",
  "\x09\xa3\x00dPOST\x01u/v1/custody/approvers\x02X ",
  "\x0a\x01\x0bp",
  "\x0c\x1b\x00\x00\x01",
  "\x0d\x1b\x00\x00\x01",
  "\x0e\x83\x01\x01\x01\x01\x83\xa5\x00\x82\x02\xa6\x00gRECEIPT\x01X ",
  "\x02\x01\x03\x19",
  "\x04X ",
  "\x05`\x01\x18",
  "\x02\x80\x03\x82\x02\xa7\x00\x01\x01\x01\x02\x19",
  "\x04\x01\x05X ",
  "\x06\x1b\x00\x00\x01",
  "\x04X@",
  "\x02\x86X ",
  "\x02\x85X ",
  "\x03\x82\x02\xa7\x00\x02\x01\x01\x02\x19",
  "\x03\x82\x02\xa7\x00\x03\x01\x01\x02\x19",
  // Slot.
  "\x82\x02\xa4\x00X ",
  "\x01\x02\x02\xa5\x00\x82\x02\xa6\x00jCOMMIT_ACK\x01X ",
  "ABORT_VOTE\x03\xf6",
  // Entry of the audit.
  "\x82\x02\x82\x02\xb0\x00X ",
  "\x01\x01\x02\x01\x03\x19",
  "\x05\x1b\x00\x00\x01",
  "\x06sAPPROVER_REGISTERED\x07\xa3\x00",
  "\x08x^",
  "\x09\x01\x0a\x01\x0b\xa3\x00",
  "\x0cgAPPLIED\x0d\xf6\x0e`\x0f\x01",
  "\x06x\x1aAPPROVER_METADATA_REPLACED\x07\xa3\x00",
  "cPUTfDELETEcGETiATTEMPTEDhREJECTED",
  // Header of a batch.
  "\x82\x02\xa2\x00\x82\x02\xa7\x00\x01\x01\x01\x02\x19",
  // Approver, name, seal.
  "\x82\x02\xa8\x00v",
  "\x82\x02\xa1\x00v",
  "\x82\x02\xa3\x00\x01\x01Y\x01",
  // Approvers that have other keys, or were enrolled.
  '"ES256","RS256","EdDSA","ML-DSA-65","publicKey64":"MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE',
  '","credentialId":"","relyingPartyId":"","type":"WEBAUTHN","userVerification":"required","signCount":0',
  "fENROLLx1/v1/custody/approvers/webauthn/registration/finish/metadatagREPLACE",
];

export const phrases: Uint8Array = Buffer.from(parts.join(""), "latin1");
