/** Bugs in what a peer believes of a token. */
import { permittingAll } from "../world/TokenKeys.ts";
import { TOKEN_MARK } from "../crypto/SecretMarks.ts";
import { type PlantedBug, rows } from "./PlantedBug.ts";

export const tokenBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "permission-unchecked",
    changes: "every token is believed to hold every permission",
    finds: "S30",
    tampering: () => ({ judged: (_world, _peer, check) => permittingAll(check) }),
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
