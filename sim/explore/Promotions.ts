/**
 * A small world of a promotion: the last peer is alone and has an approver, the others wait for it; its operator asks
 * for the promotion, again after each crash, and callers register through it meanwhile.
 */
import type { World } from "../world/World.ts";
import { operatorAt } from "../requests/Promoter.ts";
import { thresholdOf } from "../world/Operators.ts";
import type { Claims } from "./Claims.ts";
import type { Scope } from "./Configuration.ts";
import { calling, type Plot, type PlannedRequest } from "./Moves.ts";
import { promotionClaims } from "./PromotionClaims.ts";
import { keepsNothing } from "./Spoken.ts";

/** Virtual microseconds in which a calm instance has surely registered. */
const LONG_ENOUGH = 30_000_000;
const TOKEN_MILLIS = 3_600_000;

/** A registration that nothing is in the way of. */
const registration = ({ commands, realMillis }: World, number: number) => {
  const asked = commands.command(`approver-${number}`, number, "team");
  return { asked, token: commands.token("good", realMillis, TOKEN_MILLIS).text };
};

export const promotions = (
  world: World,
  { peers, requests }: Pick<Scope, "peers" | "requests">,
): { readonly plot: Plot; readonly claims: Claims } => {
  const { commands, service, promoters } = world;
  const source = world.peer(peers);
  const first = registration(world, 0);
  service.request(source, service.newRequestId(), first.asked, first.token);
  world.run(world.now + LONG_ENOUGH);
  if (source.state?.registry.approvers !== 1) throw new RangeError(`peer ${peers} has no approver`);
  const plan = promoters.plan(thresholdOf(peers));
  const actor = operatorAt(world.realMillis).check;
  const operator: PlannedRequest = {
    through: source.peerId,
    name: "a promotion",
    event: (requestId) => ({ _tag: "Promote", requestId, plan, actor, dryRun: false }),
    isRepeated: true,
  };
  const callers = Array.from({ length: requests }, (_, index): PlannedRequest => {
    const { asked, token } = registration(world, index + 1);
    return { through: source.peerId, name: asked.id, event: calling(commands, asked.call, token), isRepeated: false };
  });
  return {
    plot: {
      requests: [operator, ...callers],
      lies: () => [],
      keeping: () => keepsNothing,
      isAside: () => false,
      crashless: undefined,
      isTimed: true,
    },
    claims: promotionClaims(world, source.peerId),
  };
};
