/** Bugs of what peers show of keys. */
import { Either } from "effect";
import type { identityPage } from "../../runtime/IdentityCatalog.ts";
import type { keyCursorIn } from "../../runtime/KeyPages.ts";
import type { PlantedBug } from "./PlantedBug.ts";

type Pages = typeof identityPage;

/** Whoever has any permission is shown what somebody may sign with. */
const forAll =
  (real: Pages): Pages =>
  (ports, actor, lastSeen, limit) =>
    real(
      ports,
      actor._tag === "Verified"
        ? { ...actor, claims: { ...actor.claims, permissions: ["service.key.*.sign"] } }
        : actor,
      lastSeen,
      limit,
    );

/** A page is asked for with one more, which says that there is a next one, and where it begins. */
const passingOver = (real: Pages): Pages =>
  function* (ports, actor, lastSeen, limit) {
    return Either.map(yield* real(ports, actor, lastSeen, limit + 1), ({ items }) => ({
      items: items.slice(0, limit),
      nextCursor: items[limit]?.keyId,
    }));
  };

/** Digits in front of the key that a cursor names. */
const HEAD = 32;

const ofAnyFilter =
  (real: typeof keyCursorIn): typeof keyCursorIn =>
  (crypto, filter, cursor) =>
    real(crypto, filter, cursor) ?? Buffer.from(cursor, "base64url").toString("utf8").slice(HEAD);

export const keyReadBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "catalog-for-all",
    changes: "the catalog of identities lists keys that its reader may not sign with",
    finds: "K18",
    schedule: "keys",
    tampering: () => ({ identities: forAll }),
  },
  {
    name: "identity-passed-over",
    changes: "the next page of identities begins behind the first one that had no room on this page",
    finds: "K18",
    schedule: "keys",
    tampering: () => ({ identities: passingOver }),
  },
  {
    name: "key-cursor-of-any-filter",
    changes: "a list of keys goes on with a cursor of another filter",
    finds: "K18",
    schedule: "keys",
    tampering: () => ({ keyCursor: ofAnyFilter }),
  },
];
