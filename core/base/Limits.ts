/** Every bound of the service but its capacities (Capacities.ts), once. Bytes are UTF-8 bytes, times are milliseconds. */
export const Limits = {
  /** Contract 2.1 and 8: characters of an approver id. */
  approverIdCharacters: 128,
  /** Contract 2.4. */
  metadataPairs: 32,
  metadataKeyBytes: 64,
  metadataValueBytes: 512,
  metadataTotalBytes: 16 * 1024,
  /** Contract 8: nesting of any JSON document. */
  jsonDepth: 64,
  /** Values of any JSON document: hundreds of times as many as any request has, and few enough not to slow a step. */
  jsonValues: 16_384,
  /**
   * Contract 8: the body of any registry request. No valid one is refused for its length: below 200 KiB are the largest
   * metadata with the longest key, and a response in which everything is as long as it may be, however escaped.
   */
  requestBodyBytes: 256 * 1024,
  /** Contract 8: entries of a policy, approvers of a manifest, and approvers of one group. */
  policyEntries: 256,
  policyIdCharacters: 128,
  /** A policy with that many of the longest keys, and some slack. */
  policyBytes: 2 * 1024 * 1024,
  /** A message between peers: 4 MiB of bodies with their tokens and 64 proposals, or 64 certificates of 64 members. */
  envelopeBytes: 12 * 1024 * 1024,
  /**
   * Items of any encoding, for its writer and its reader: enough for the fullest messages, 64 proposals of 64 members
   * with a vote of each, and for fields to come in later versions (Message.test.ts).
   */
  cborItems: 524_288,
  /** A request's id between peers; not the caller's X-Request-Id. */
  requestIdCharacters: 128,
  /** The largest public key of an installed algorithm is 2,592 bytes (ML-DSA-87); its DER form and some slack fit. */
  publicKeyBytes: 4096,
  /** Characters of a key's id, which a permission names. */
  keyIdCharacters: 100,
  /** Characters of the id of an authority or of an asset's owner. */
  authorityIdCharacters: 128,
  authoritiesOfKey: 32,
  /** Why a target refuses, in words. */
  promotionFaultBytes: 256,
  /** How long a source waits for what its targets say before anything is pinned. */
  promotionAskMillis: 5_000,
  /** The last number of a generation. */
  generations: 65_535,
  /** A share or private key, encrypted; they have 32 bytes. */
  shareBoxBytes: 8 * 1024,
  /** The data of one `arbitrary` command: each signer reads and hashes it several times, in steps that others wait for. */
  signedBytes: 1024 * 1024,
  /** Contract 8: the body of a request to sign or to verify. With all of that data escaped it has 8 MiB. */
  signingBodyBytes: 10 * 1024 * 1024,
  /** The same where it waits, or goes to other members, in its shortest form if it is longer: that data in Base64, and some slack. */
  carriedBodyBytes: 1536 * 1024,
  /** ML-DSA-87 has the longest, of 4,627 bytes. */
  signatureBytes: 8 * 1024,
  /** Sessions of signatures that a peer holds a nonce for, those of one coordinator, and the bytes that they sign. */
  signingSessions: 1024,
  signingSessionsOfCoordinator: 256,
  signingSessionBytes: 64 * 1024 * 1024,
  /** How long such a session waits for what is to be signed with whom. */
  signingSessionMillis: 10_000,
  /** Requests to sign that a peer coordinates at once, and the bytes of their bodies. */
  signingRequests: 256,
  signingRequestBytes: 64 * 1024 * 1024,
  /** How often a signature is tried, each time with other nonces. */
  signingAttempts: 3,
  /** From the timestamp of an operation that needs no approval to its deadline. */
  operationMillis: 60_000,
  /** How long a consent is kept past its deadline. */
  consentRetentionMillis: 3_600_000,
  /** Generations of a key whose shares are repaired in one session. */
  repairedGenerations: 64,
  /** How long a helper waits for the others of such a session. */
  repairMillis: 10_000,
  /** The effects of one change in bytes: an approver with the longest descriptor and all metadata, and some slack. */
  effectsBytes: 64 * 1024,
  /** The writer's answer to an exchange: a session, and an acknowledgement of each of 64 members. */
  exchangeBytes: 256 * 1024,
  /** Bytes of evidence waiting at the writer: eight messages full of it. */
  queuedBytes: 32 * 1024 * 1024,
  /** Faults listed in one answer. */
  listedFaults: 64,
  /** Contract 3.1: how long a session is remembered past its deadline. */
  sessionRetentionMillis: 3_600_000,
  /** Of as many refused responses as a session may have at once, one comes back after so many milliseconds. */
  refusedFinishMillis: 10_000,
  /** The same of an actor. */
  refusedFinishOfActorMillis: 1_000,
  /** Claims that are stored with their bearer's acts. */
  subjectBytes: 1024,
  issuerBytes: 2048,
  tokenIdBytes: 1024,
  /** What a row of the audit tells in words. */
  auditDetailBytes: 512,
  /** A request's If-Match header. */
  ifMatchBytes: 256,
  /** Room for one abort comes back after so many milliseconds. */
  abortMillis: 1_000,
  /** Contract 8: how long an enrollment may be open. */
  registrationTtlMillis: 600_000,
  /** Peers of one topology. */
  members: 64,
  /** Contract 8: a mutation is answered within this. */
  answerMillis: 10_000,
  /** protocol.md 2: how long a proposal may be prepared. */
  proposalMillis: 60_000,
  /** protocol.md 1: tolerated clock difference between peers. */
  clockSkewMillis: 5_000,
  /** How long a peer whose clock was set by more than that refuses no token for certain that was good until then. */
  clockDoubtMillis: 600_000,
  /** How far a member's new incarnation, which is its clock's time, may be ahead of the clock here: a century. */
  incarnationAheadMillis: 100 * 365 * 86_400_000,
  /** Contract 5.8: a token's minimum remaining time when the writer reserves. */
  tokenRemainderMillis: 5_000,
  /** Contract 5.8: skew allowed on `nbf` and `iat`. */
  tokenSkewMillis: 15_000,
  /** Random bytes of a challenge, a user handle and an invitation each (contract 2.5). */
  challengeBytes: 32,
  /** A browser's response: far above any seen, far below any that slows a step. */
  clientDataBytes: 16 * 1024,
  attestationObjectBytes: 64 * 1024,
  /** A client's display name of the credential, as the user sees it (credProps). */
  displayNameBytes: 256,
  transports: 16,
  transportCharacters: 32,
  /** WebAuthn Level 3 section 4, "Credential ID": at least 16 bytes; section 7.1 step 25: at most 1023. */
  shortestCredentialIdBytes: 16,
  credentialIdBytes: 1023,
  /** Certificates of one attestation statement, and bytes of one. */
  chainCertificates: 8,
  certificateBytes: 16 * 1024,
  /** Contract 8: ASN.1 values of one certificate, including its extensions; the largest in the field has 92. */
  certificateValues: 256,
  /** protocol.md 3.3: how old a readiness probe may be. */
  probeAgeMillis: 1_000,
  /** How long the writer waits for the answers to a probe. */
  probeWaitMillis: 2_000,
} as const;
