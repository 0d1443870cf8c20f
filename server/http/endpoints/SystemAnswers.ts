/** What the system endpoints and the configuration answer with (contract 2.7, 4.5). */
import {
  described,
  either,
  integer,
  list,
  named,
  nullable,
  number,
  object,
  only,
  optional,
  text,
  truth,
  word,
} from "../../../core/codec/Shape.ts";

const NO_RULE = "";
const peerId = integer(1, 65_535);
const count = integer(0);
const digest = text({ pattern: /^[0-9a-f]{64}$/ });
const unixMillis = integer(0);

export const memberFaultShape = named(
  "MemberFault",
  object({ peerId: described("0 where no one member is meant.", integer(0, 65_535)), reason: text() }),
);

const shownShares = described("The new shares in Base64. They are told this once.", list(text()));
const encryptedShares = described(
  "The new shares, each encrypted to its holder. They are told this once.",
  list(object({ recipient: text(), share: described("Armored.", text()) })),
);

const numbers = { peerId, threshold: peerId, total: peerId };
const sharesNeeded = described("So many of the shares unseal.", integer(2, 255));

export const initializedShape = named(
  "Initialized",
  either(
    object({ ...numbers, shares64: shownShares, sharesNeeded }),
    object({ ...numbers, encryptedShares, sharesNeeded }),
  ),
);

const sealStateShape = named("SealState", word(["UNINITIALIZED", "SEALED", "UNSEALED"], NO_RULE));
const verifyingShape = described(
  "How far the verification of stored rows is; until it ends the peer signs and reads nothing.",
  object({ rows: count, of: count }),
);
const progress = {
  have: described("Shares that are in.", count),
  need: described("Shares that are needed; 0 at an unsealed peer.", count),
};

export const unsealedShape = named(
  "UnsealProgress",
  object({ state: sealStateShape, ...progress, verifying: optional(verifyingShape) }),
);

export const rekeyedShape = named(
  "RekeyProgress",
  object({
    step: described(
      "Until `DONE` the present shares stay valid.",
      word(["NONE", "PRESENT_SHARES", "NEW_SHARES", "DONE"], NO_RULE),
    ),
    ...progress,
    shares: optional(integer(2, 255)),
    threshold: optional(integer(2, 255)),
    shares64: optional(shownShares),
    encryptedShares: optional(encryptedShares),
  }),
);

export const stateShape = object({ state: sealStateShape });

export const restoredShape = object({
  state: sealStateShape,
  incarnation: described("Null while sealed: it begins with the unseal.", nullable(integer(0))),
});

export const rotatedShape = object({ integrityKeyVersion: integer(1) });

const versionsShape = object({ lowest: integer(1), highest: integer(1) });

const memberShape = named(
  "MemberStatus",
  object({
    peerId,
    self: truth,
    reachable: described("Null before the first message to it was answered or not.", nullable(truth)),
    ready: described("Null where another member's fault decided the matter before.", nullable(truth)),
    reason: optional(described("Why it is not ready.", text())),
    versions: described("Of the protocol; null before it has said so to this process.", nullable(versionsShape)),
  }),
);

const topologyShape = object({
  clusterId: digest,
  epoch: count,
  digest,
  members: described("Ascending.", list(peerId)),
  writer: peerId,
  development: truth,
});

const foundingShape = object({ introduced: list(peerId), signed: list(peerId), faults: list(memberFaultShape) });

const promotionShape = named(
  "PromotionStatus",
  object({
    role: word(["source", "target"], NO_RULE),
    stage: described(
      "At the source: the plan is pinned for ever; the new cluster has begun; every member has the registry. At a target: bound; it takes the registry; it has it.",
      word(["PINNED", "DECIDED", "DONE", "ACCEPTED", "INSTALLING", "INSTALLED"], NO_RULE),
    ),
    transferId: digest,
    source: peerId,
    members: described("Ascending, the source among them.", list(peerId)),
    threshold: peerId,
    approvers: described("Of the registry that moves.", count),
    here: described("Approvers that this peer has.", count),
    accepted: described("At the source: targets that are bound.", list(peerId)),
    installed: described("At the source: targets that have the registry.", list(peerId)),
    refused: described("At the source: targets that refuse; they are asked again for ever.", list(memberFaultShape)),
    waitsFor: described("Empty where nothing is waited for.", text()),
  }),
);

export const promotedShape = object({
  promotion: described("Null where there is none.", nullable(promotionShape)),
});

const detailShape = named(
  "StatusDetail",
  object({
    ...numbers,
    identityKey: described("By which other peers know it.", digest),
    incarnation: count,
    topology: optional(topologyShape),
    founding: optional(foundingShape),
    promotion: optional(described("That this peer is the source or a target of.", promotionShape)),
    approvers: count,
    uncommitted: described("Prepared here, undecided.", count),
    locks: count,
    outbox: described("Applied here, and not known to be applied by all.", count),
    waiting: described("Requests waiting for their turn or for the writer's answer.", count),
    highestSlot: count,
    lastDecidedSlot: count,
    integrityKeyVersion: optional(integer(1)),
    integrityFault: optional(described("Why this peer signs nothing.", text())),
    quarantine: optional(text()),
    recovering: optional(described("What a restored peer waits for.", text())),
    version: described("Of the program.", text()),
    configDigest: digest,
    flush: described(
      "How long flushes took; null before the first.",
      nullable(object({ count, lastMillis: number, medianMillis: number })),
    ),
    clock: object({
      now: unixMillis,
      steppedAt: described("When it was last seen to be set; null where it never was.", nullable(unixMillis)),
      steppedByMillis: nullable(number),
    }),
    members: list(memberShape),
    warnings: described("Faults to mend although they stop nothing: where, what, what to do.", list(text())),
  }),
);

export const statusShape = named(
  "Status",
  object({
    state: sealStateShape,
    verifying: optional(verifyingShape),
    unsealing: optional(object(progress)),
    rekey: optional(rekeyedShape),
    detailMissing: optional(described("Why the detail cannot be shown now.", object({ code: text(), detail: text() }))),
    detail: optional(described("For tokens with `service.control.system`.", detailShape)),
  }),
);

export const healthShape = object({ status: word(["ok"], NO_RULE) });
export const readableShape = object({ readable: only(true) });
export const readyShape = object({ ready: only(true) });

const bodyDigest = described(
  "SHA-256 of the body as it was sent; of one to sign past 1.5 MiB, of its shortest form: RFC 8785, with its `hash`.",
  digest,
);

/** As the audit writes it; strict about names alone, because the reader of an audit computes its hashes again. */
const eventShape = named(
  "AuditEvent",
  object({
    specversion: word(["1.0"], NO_RULE),
    id: digest,
    source: text(),
    type: text(),
    subject: optional(text()),
    time: optional(text()),
    datacontenttype: word(["application/json"], NO_RULE),
    data: object({
      version: integer(1),
      peerId,
      seq: integer(1),
      prevHash: digest,
      hash: described("Of this row: what the next one has as `prevHash`.", digest),
      integrityKeyVersion: count,
      timestamp: unixMillis,
      event: text(),
      actor: optional(object({ sub: text(), iss: optional(text()), jti: optional(text()) })),
      context: object({
        approverRef: optional(text()),
        metadataRevision: optional(count),
        keyId: optional(text()),
        generation: optional(count),
        entryPeer: optional(count),
        requestId: optional(text()),
        detail: text(),
        times: count,
      }),
      request: optional(object({ method: text(), path: text(), bodyDigest: optional(bodyDigest) })),
      outcome: text(),
    }),
  }),
);

export const auditPageShape = object({
  peerId: integer(0, 65_535),
  events: described("CloudEvents 1.0.", list(eventShape)),
  next: integer(1),
  head: described("The last event there is.", object({ seq: count, hash: digest })),
});

export const configurationShape = named(
  "Configuration",
  object({
    threshold: peerId,
    total: peerId,
    features: described("Sorted, `core` among them.", list(text())),
    authorities: described("Sorted: `custom`, and `arbitrary` where enabled.", list(text())),
    sealProvider: text(),
  }),
);

/** RFC 9457; the rest is stable too. */
export const problemShape = named(
  "Problem",
  object({
    type: text(),
    title: text(),
    status: integer(400, 599),
    detail: described("For a person; never holds a submitted value.", text()),
    instance: text(),
    code: described("Stable.", text()),
    requestId: text(),
    retryable: described("Whether the same request may succeed later.", truth),
    hint: described("What to do next.", text()),
    errors: optional(
      described(
        "Every fault of a body or of a query.",
        list(
          object({
            pointer: optional(described("Of a body: RFC 6901.", text())),
            parameter: optional(described("Of a query: a name, or a place from 1, such as `#3`.", text())),
            code: text(),
            detail: text(),
          }),
        ),
      ),
    ),
    members: optional(described("Members in the way.", list(memberFaultShape))),
    ref: optional(text()),
    outcomeUnknown: optional(
      described("The change may still happen or have happened: the identical request finds out.", only(true)),
    ),
  }),
);
