/** What peers of a promotion do wrong where a run is to find it: a change of the product's own text as it is loaded. */
import { SOURCE } from "../../server/dev/ClusterFile.ts";

interface Change {
  readonly at: "source" | "targets";
  /** The end of the module's path. */
  readonly module: string;
  readonly from: string;
  readonly to: string;
}

export const plants = {
  /** A draft is accepted and not stored. */
  forget: {
    at: "targets",
    module: "/core/protocol/PromotionTarget.js",
    from: 'step.rows(promotionTables).put("transfer", SELF, { draft, previous });',
    to: "",
  },
  /** An approver is shown as if its metadata had never been replaced. */
  stale: {
    at: "targets",
    module: "/server/http/ApproverRecord.js",
    from: "updatedAt: approver.updatedAt,",
    to: "updatedAt: approver.createdAt,",
  },
  /** Enrollment sessions outlive the epoch in which they were opened. */
  outlive: {
    at: "source",
    module: "/core/commands/enrollPasskey/SessionStanding.js",
    from: "topologyDigest !== evaluation.membership.digest ||",
    to: "",
  },
} as const satisfies Readonly<Record<string, Change>>;

export type Plant = keyof typeof plants;

export const plantNames = Object.keys(plants) as ReadonlyArray<Plant>;

/** Whether a peer has this fault. */
export const isPlantedAt = (plant: Plant, slot: number): boolean =>
  (plants[plant].at === "source") === (slot === SOURCE);
