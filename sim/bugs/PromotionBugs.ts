/** Bugs of promotions: in what a source pins and decides, in what a target accepts, and in when which of them is done. */
import { SELF } from "../../core/protocol/Tables.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Stage } from "../../core/protocol/PromotionState.ts";
import type { Suite } from "../../core/threshold/Suite.ts";
import { nameOf } from "../checkers/S27.ts";
import { allows, type Grants } from "../requests/Grants.ts";
import { toMoveRegistry, toPromote } from "../requests/Promoter.ts";
import { FOREIGN, type PlantedBug, rows, without } from "./PlantedBug.ts";
import type { Tampering } from "../world/Tampering.ts";

/** Edits what a source in this stage knows of its promotion. */
const atSource = (stage: Stage, edit: (promotion: PeerState["cluster"]["promotion"]) => void) => (): Tampering => ({
  stepped: (_world, _peer, state) => {
    const { promotion } = state.cluster;
    if (promotion.own?.stage === stage) edit(promotion);
  },
});

const membersIn = ({ own }: PeerState["cluster"]["promotion"]): ReadonlyArray<number> =>
  own?.draft.members.map(({ peerId }) => peerId) ?? [];

/** What the bearer of a token is believed to be allowed, whose promotion a source is asked for. */
const permitted = (change: (grants: Grants) => Grants) => (): Tampering => ({
  promoted: ({ actor, ...asked }) => {
    if (actor._tag !== "Verified") return { ...asked, actor };
    const { claims } = actor;
    return { ...asked, actor: { ...actor, claims: { ...claims, permissions: change(claims.permissions) } } };
  },
});

/** Peers take keys for other ones than they are. */
const withSuites = (change: (suite: Suite, all: ReadonlyArray<Suite>) => Suite) => (): Tampering => ({
  cryptography: (honest) => {
    const { suites } = honest.keyCrypto;
    return { ...honest, keyCrypto: { ...honest.keyCrypto, suites: suites.map((each) => change(each, suites)) } };
  },
});

export const promotionBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "changes-while-pinned",
    changes: "a source goes on with changes once it has told its draft to the targets",
    finds: "S20",
    schedule: "promote-under-load",
    tampering: atSource("PINNED", (promotion) => Object.assign(promotion, { own: undefined })),
  },
  {
    name: "takes-part-when-decided",
    changes: "a source takes part in changes as soon as it has decided",
    finds: "S20",
    orFinds: ["S59"],
    schedule: "promote-under-load",
    steps: 2_000,
    tampering: atSource("DECIDED", (promotion) =>
      Object.assign(promotion, { own: promotion.own && { ...promotion.own, stage: "DONE" } }),
    ),
  },
  {
    name: "pins-with-the-first",
    changes: "a source pins its promotion when one target would accept",
    finds: "S60",
    schedule: "promote-deaf-target",
    tampering: () => ({
      stepped: (_world, _peer, { cluster: { promotion } }) => {
        const { inquiry } = promotion;
        if (inquiry === undefined || inquiry.answers.size === 0) return;
        const answers = new Map(inquiry.plan.members.map(({ peerId }) => [peerId, undefined]));
        Object.assign(promotion, { inquiry: { ...inquiry, answers: new Map([...answers, ...inquiry.answers]) } });
      },
    }),
  },
  {
    name: "decides-with-the-first",
    changes: "a source decides with the signature of one target",
    finds: "S27",
    orFinds: ["S23", "S59"],
    schedule: "promote-deaf-target",
    tampering: atSource("PINNED", (promotion) => {
      const [signature] = promotion.accepted.values();
      if (signature !== undefined)
        Object.assign(promotion, { accepted: new Map(membersIn(promotion).map((peerId) => [peerId, signature])) });
    }),
  },
  {
    name: "done-with-the-first",
    changes: "a source is done when one target has the registry",
    finds: "S27",
    orFinds: ["S59"],
    schedule: "promote-deaf-target",
    tampering: atSource("DECIDED", (promotion) => {
      if (promotion.installed.size > 0) Object.assign(promotion, { installed: new Set(membersIn(promotion)) });
    }),
  },
  {
    name: "ahead-of-targets",
    changes: "a source takes its first target for one that has the registry",
    finds: "S59",
    orFinds: ["S27"],
    schedule: "promote-deaf-target",
    tampering: atSource("DECIDED", (promotion) => {
      const first = membersIn(promotion).find((peerId) => peerId !== promotion.own?.draft.source);
      if (first !== undefined) Object.assign(promotion, { installed: new Set([...promotion.installed, first]) });
    }),
  },
  {
    name: "pins-in-memory",
    changes: "a source tells its draft to the targets without having stored it",
    finds: "S27",
    orFinds: ["S32"],
    schedule: "promote-under-load",
    tampering: without((write) => write.table === "promotion" && write.op !== "remove" && write.row.stage === "PINNED"),
  },
  {
    name: "pins-another-draft",
    changes: "what a source stores of its draft is not what it tells",
    finds: "S27",
    orFinds: ["S60"],
    schedule: "promote-under-load",
    tampering: rows("promotion", (row) => ({ ...row, draft: { ...row.draft, nonce: FOREIGN } })),
  },
  {
    name: "accepts-in-memory",
    changes: "a target accepts a draft without having stored it",
    finds: "S27",
    orFinds: ["S32"],
    schedule: "promote-under-load",
    tampering: without(({ table }) => table === "transfer"),
  },
  {
    name: "accepts-what-it-likes",
    changes: "a target signs for another registry than the source has pinned",
    finds: "S27",
    schedule: "promote-under-load",
    tampering: () => ({
      delivered: (_world, _peer, message) =>
        message._tag === "Promotion.Draft" ? { ...message, draft: { ...message.draft, root: FOREIGN } } : message,
    }),
  },
  {
    name: "promotes-untold",
    changes: "the audit of a source or target tells of another event where it should tell of a step of a promotion",
    finds: "S32",
    schedule: "promote-under-load",
    tampering: rows("audit", (row) => (row.event.startsWith("PROMOTION_") ? { ...row, event: "PROMOTED" } : row)),
  },
  {
    name: "accepts-once-more",
    changes: "a target that is shown the decision takes it for the first that it hears of its draft",
    finds: "S32",
    orFinds: ["S55"],
    schedule: "promote-under-load",
    tampering: () => ({
      delivered: (_world, { state }, message) => {
        const { promotion, membership } = state?.cluster ?? {};
        if (message._tag === "Promotion.Decided" && promotion !== undefined && membership === undefined)
          Object.assign(promotion, { bound: undefined });
        return message;
      },
    }),
  },
  {
    name: "forgets-the-old-epoch",
    changes: "a source does not store the topology that it was alone in",
    finds: "L6",
    orFinds: ["L5", "S13"],
    schedule: "promote-under-load",
    tampering: without(({ table }) => table === "epochs"),
  },
  {
    name: "deaf-to-decisions",
    changes: "a target takes the decision for the draft that it knows",
    finds: "L6",
    schedule: "promote-under-load",
    tampering: () => ({
      delivered: (_world, { state }, message) => {
        if (message._tag !== "Promotion.Decided" || state?.cluster.membership !== undefined) return message;
        const { identityKey, draft, previous } = message;
        return { _tag: "Promotion.Draft", identityKey, draft, previous };
      },
    }),
  },
  {
    name: "accepts-from-anybody",
    changes: "a target accepts from whatever instance has the id that its operator named, under any key",
    finds: "S27",
    schedule: "promote-old-messages",
    tampering: () => ({
      delivered: (_world, peer, message, from) => {
        if (message._tag === "Promotion.Draft")
          Object.assign(peer.settings, { joins: { peerId: from, identityKey: message.identityKey } });
        return message;
      },
    }),
  },
  {
    name: "newest-draft-counts",
    changes: "a target accepts another draft of its source in the place of the one that it has accepted",
    finds: "S27",
    orFinds: ["S55"],
    schedule: "promote-lying-source",
    tampering: () => ({
      delivered: (_world, { state }, message) => {
        const { promotion, founding, membership } = state?.cluster ?? {};
        const known = promotion?.bound?.draft;
        if (message._tag !== "Promotion.Draft" || membership !== undefined || known === undefined) return message;
        if (nameOf(known) === nameOf(message.draft)) return message;
        Object.assign(promotion ?? {}, { bound: undefined });
        Object.assign(founding ?? {}, { vote: undefined });
        return message;
      },
      written: (_world, { disk }, writes) =>
        writes.map((write) =>
          write.table === "genesis" && write.op === "insert" && disk.holds("genesis", SELF)
            ? { ...write, op: "replace" }
            : write,
        ),
    }),
  },
  {
    name: "any-registry-will-do",
    changes: "a target does not compare the registry that it takes with the one of the draft",
    finds: "S26",
    orFinds: ["S27", "S13"],
    schedule: "promote-lying-source",
    tampering: () => ({
      stepped: (_world, _peer, { cluster, rejoining }) => {
        if (rejoining.recovery !== undefined) Object.assign(cluster.promotion, { bound: undefined });
      },
    }),
  },
  {
    name: "installed-when-decided",
    changes: "a target says that it has the registry as soon as it is shown the decision",
    finds: "S27",
    orFinds: ["S59"],
    schedule: "promote-under-load",
    tampering: () => ({
      delivered: ({ mail }, peer, message, from) => {
        const { membership, promotion } = peer.state?.cluster ?? {};
        if (message._tag === "Promotion.Decided" && membership !== undefined && promotion?.bound !== undefined) {
          const { transferId } = promotion.bound;
          const identityKey = peer.keys.identity.publicKey;
          mail.utter(peer, from, { _tag: "Promotion.Installed", identityKey, transferId });
        }
        return message;
      },
    }),
  },
  {
    name: "anybody-may-promote",
    changes: "a source is promoted by whoever has a token",
    finds: "S60",
    schedule: "promote-under-load",
    tampering: permitted(() => [toPromote, ...toMoveRegistry]),
  },
  {
    name: "registry-moves-with-anybody",
    changes: "who may promote a source need not be allowed what is in its registry",
    finds: "S60",
    schedule: "promote-under-load",
    tampering: permitted((grants) => (allows(grants, toPromote) ? [toPromote, ...toMoveRegistry] : grants)),
  },
  {
    name: "remembers-alone",
    changes: "an instance that is alone takes changes after a start before its peers have said whether it was promoted",
    finds: "S14",
    orFinds: ["S22"],
    schedule: "promote-rollback-source",
    tampering: () => ({
      stepped: (_world, _peer, { cluster: { promotion } }) => Object.assign(promotion, { witnesses: undefined }),
    }),
  },
  {
    name: "tried-in-earnest",
    changes: "a source pins what somebody only tried",
    finds: "S60",
    schedule: "promote-under-load",
    tampering: () => ({ promoted: (asked) => ({ ...asked, dryRun: false }) }),
  },
  {
    name: "any-key-moves",
    changes: "a source takes all of its keys for such that members can share",
    finds: "S60",
    orFinds: ["S30"],
    schedule: "promote-with-keys",
    tampering: withSuites((suite, [first]) => ({ ...suite, shared: suite.shared ?? first?.shared })),
  },
  {
    name: "no-key-moves",
    changes: "a source takes none of its keys for one that members can share",
    finds: "S60",
    schedule: "promote-with-keys",
    tampering: withSuites((suite) => ({ ...suite, solo: { ...suite.solo, scalarOf: undefined } })),
  },
];
