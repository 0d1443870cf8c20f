/** Bugs in what a peer believes of a token. */
import type { ActorClaims } from "../../core/auth/ActorClaims.ts";
import { ISSUER } from "../requests/Commands.ts";
import type { Tampering } from "../world/Tampering.ts";
import { permittingAll } from "../world/TokenKeys.ts";
import { TOKEN_MARK } from "../crypto/SecretMarks.ts";
import { type PlantedBug, rows } from "./PlantedBug.ts";

/** What is denied before it is granted. */
const isOverruled = (entry: string, at: number, all: ReadonlyArray<string>): boolean =>
  entry.startsWith("-") && at < all.length - 1;

/** Changes what a token says, whoever looks at it. */
const claimed = (change: (claims: ActorClaims) => Partial<ActorClaims>) => (): Tampering => ({
  judged: (_world, _peer, check) =>
    check._tag === "Verified" ? { ...check, claims: { ...check.claims, ...change(check.claims) } } : check,
});

export const tokenBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "permission-unchecked",
    changes: "every token is believed to hold every permission",
    finds: "S30",
    tampering: () => ({ judged: (_world, _peer, check) => permittingAll(check) }),
  },
  {
    name: "last-grant-counts",
    changes: "what a token denies holds only behind all that it grants",
    finds: "S30",
    tampering: claimed(({ permissions }) => ({
      permissions: permissions.filter((entry, at, all) => !isOverruled(entry, at, all)),
    })),
  },
  {
    name: "any-issuer",
    changes: "a token of any issuer will do",
    finds: "S30",
    orFinds: ["K2"],
    tampering: claimed(() => ({ iss: ISSUER })),
  },
  {
    name: "anybody-may-invite",
    changes: "every token is believed to hold every permission, where callers ask for options only",
    finds: "S30",
    schedule: "session-storm",
    tampering: () => ({ judged: (_world, _peer, check) => permittingAll(check) }),
  },
  {
    name: "judge-without-keys",
    changes: "a member that cannot get the keys of tokens counts as ready",
    finds: "S35",
    schedule: "token-keys-gone",
    steps: 4_000,
    tampering: () => ({ judges: () => true }),
  },
  {
    name: "closed-for-good",
    changes: "after everything was healed no token is accepted any more",
    finds: "L4",
    orFinds: ["S44"],
    tampering: () => ({
      judged: (world, _peer, check) => (world.healed ? { _tag: "Refused", reason: "planted" } : check),
    }),
  },
  {
    name: "token-beside-outbox",
    changes: "a token is kept in the outbox, in a field that no codec knows",
    finds: "S29",
    tampering: rows("outbox", (row) => Object.assign({ ...row }, { onBehalfOf: `Bearer ${TOKEN_MARK}1` })),
  },
];
