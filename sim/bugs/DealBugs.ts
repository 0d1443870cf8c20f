/** Bugs in how a key that was whole at one member is shared out after a promotion. */
import { Either } from "effect";
import { bump, withScheme } from "./KeyBugs.ts";
import type { PlantedBug } from "./PlantedBug.ts";

export const dealBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "deals-with-a-constant",
    changes: "what is dealt of a whole key is another key",
    finds: "K7",
    orFinds: ["S30", "S14"],
    schedule: "promote-with-keys",
    tampering: withScheme((real) => ({
      dealFinish: (...given) =>
        Either.map(real.dealFinish(...given), (made) => ({
          ...made,
          key: { ...made.key, commitments: made.key.commitments.with(0, bump(made.key.commitments[0] ?? "") as never) },
        })),
    })),
  },
  {
    name: "never-dealt",
    changes: "members take nothing that is dealt of a whole key",
    finds: "LK3",
    orFinds: ["K17"],
    schedule: "promote-with-keys",
    tampering: withScheme(() => ({ dealFinish: () => Either.left({ indexes: [], why: "no" }) })),
  },
];
