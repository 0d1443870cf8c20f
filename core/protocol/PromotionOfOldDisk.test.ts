import { describe, expect, it } from "vitest";
import { codeOf } from "../../properties/cluster/Cluster.ts";
import { expectDone, lost, promote, withApprover } from "../../properties/cluster/Promoting.ts";
import { copyOf, declare, stateOf } from "../../properties/cluster/Restoring.ts";
import { modeOf } from "./Mode.ts";
import { promotionStatus } from "./PromotionStatus.ts";

describe("a source that is put back from a backup", () => {
  it.each(["before it had pinned", "when it had pinned"])(
    "made %s quarantines itself once a target shows it the decision, and a restore brings it back",
    (when) => {
      const cluster = withApprover();
      const before = copyOf(cluster.tables.get(2));
      cluster.tamper = lost("Promotion.Accepted");
      promote(cluster);
      cluster.pass(2_000);
      const backup = when === "when it had pinned" ? copyOf(cluster.tables.get(2)) : before;
      cluster.tamper = (_from, _to, message) => message;
      cluster.pass(10_000);
      cluster.register(1, "later", "bob", 2);
      cluster.pass(1_000);
      expect(codeOf(cluster, "later")).toBe("Registered");
      cluster.tables.set(2, backup);
      cluster.start(2);
      cluster.pass(5_000);
      expect(modeOf(stateOf(cluster, 2))).toBe("quarantined");
      expect(stateOf(cluster, 2).fitness.quarantine).toContain("decided the promotion");
      declare(cluster, 2);
      cluster.pass(15_000);
      expectDone(cluster, 2);
    },
  );

  it("made before it had pinned has nobody to be restored from until it is shown the decision", () => {
    const cluster = withApprover();
    const backup = copyOf(cluster.tables.get(2));
    promote(cluster);
    cluster.pass(10_000);
    cluster.tables.set(2, backup);
    cluster.tamper = lost("GenesisCard");
    cluster.start(2);
    declare(cluster, 2);
    expect(codeOf(cluster, "declare 2")).toBe("RESTORE_IMPOSSIBLE");
    expect(modeOf(stateOf(cluster, 2))).toBe("active");
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(5_000);
    expect(modeOf(stateOf(cluster, 2))).toBe("quarantined");
    declare(cluster, 2);
    cluster.pass(15_000);
    expectDone(cluster);
  });

  it("made before it had pinned is shown the decision by whomever it asks to accept another promotion", () => {
    const cluster = withApprover();
    const backup = copyOf(cluster.tables.get(2));
    promote(cluster);
    cluster.pass(10_000);
    cluster.tables.set(2, backup);
    cluster.start(2);
    cluster.tamper = lost("GenesisCard");
    promote(cluster, "again");
    cluster.settle();
    expect(cluster.answers.get("again")).toMatchObject({ _tag: "Rejected" });
    expect(stateOf(cluster, 2).fitness.quarantine).toContain("decided the promotion");
  });

  it("is done once its restore ends, where every target had said before that it has the registry", () => {
    const cluster = withApprover();
    cluster.tamper = lost("Promotion.Installed");
    promote(cluster);
    cluster.pass(10_000);
    cluster.tamper = lost("ReadyProbe");
    // It is told by all, and cannot ask what they have seen of it.
    cluster.start(2);
    cluster.pass(2_000);
    expect(promotionStatus(stateOf(cluster, 2))).toMatchObject({ stage: "DECIDED", installed: [1, 3] });
    declare(cluster, 2);
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(15_000);
    expectDone(cluster);
  });

  it("made after its decision finds out from its own signature", () => {
    const cluster = withApprover();
    cluster.tamper = lost("Promotion.Installed");
    promote(cluster);
    cluster.pass(10_000);
    const backup = copyOf(cluster.tables.get(2));
    cluster.tamper = (_from, _to, message) => message;
    cluster.pass(2_000);
    cluster.register(1, "later", "bob", 2);
    cluster.pass(1_000);
    cluster.tables.set(2, backup);
    cluster.start(2);
    cluster.pass(5_000);
    expect(modeOf(stateOf(cluster, 2))).toBe("quarantined");
    declare(cluster, 2);
    cluster.pass(15_000);
    expectDone(cluster, 2);
  });
});
