/**
 * Who asks for promotions: an operator with all that takes, and others with less, in the forms in which tokens carry
 * permissions (contract 5.5), or with no token at all.
 */
import { absurd } from "effect";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { Unit } from "../base/Choices.ts";
import { AUDIENCE, ISSUER, toRegister } from "./Commands.ts";
import { type Grants, withholding } from "./Grants.ts";

export const toPromote = "service.system.promote";
/** What a registry with something in it takes beside that. */
export const toMoveRegistry = [toRegister.needed, toRegister.other] as const;

const LIFE_MILLIS = 1_000 * 86_400_000;

export interface Promoter {
  readonly name: string;
  readonly check: ActorCheck;
  /** What its token grants; undefined where that is none. */
  readonly grants: Grants | undefined;
}

/** @param name of the token too, which no other has */
const promoter = (name: string, grants: Grants, expiresAt: number): Promoter => {
  const claims = {
    iss: ISSUER,
    sub: name,
    jti: name,
    audience: [AUDIENCE],
    expiresAt,
    notBefore: undefined,
    issuedAt: undefined,
    permissions: grants,
  };
  return { name, check: { _tag: "Verified", claims }, grants };
};

export const operatorAt = (realMillis: number): Promoter =>
  promoter("operator", [toPromote, ...toMoveRegistry], realMillis + LIFE_MILLIS);

const lacks = ["promoting", "registering", "metadata", "nothing", "a token", "time"] as const;

const oneOf = (unit: Unit, [usual, ...others]: ReadonlyArray<Grants>): Grants => {
  const all = [usual ?? [], ...others];
  return all[unit.between("form", 0, 0, all.length - 1)] ?? [];
};

/** Somebody else, who mostly may not. */
export const otherPromoter = (unit: Unit, number: number, realMillis: number): Promoter => {
  const name = `promoter-${number}`;
  const [register, metadata] = toMoveRegistry;
  const bearer = (grants: Grants): Promoter => promoter(name, grants, realMillis + LIFE_MILLIS);
  const lacking = unit.named("lacks", "nothing", lacks, [2, 2, 2, 2, 1, 1]);
  switch (lacking) {
    case "promoting":
      return bearer([...toMoveRegistry, ...oneOf(unit, withholding(toPromote, register))]);
    case "registering":
      return bearer([toPromote, metadata, ...oneOf(unit, withholding(register, metadata))]);
    case "metadata":
      return bearer([toPromote, register, ...oneOf(unit, withholding(metadata, register))]);
    case "nothing":
      return bearer([toPromote, ...toMoveRegistry]);
    case "a token":
      return { name, check: { _tag: "Refused", reason: "its signature does not verify" }, grants: undefined };
    case "time":
      return { ...promoter(name, [toPromote, ...toMoveRegistry], realMillis - LIFE_MILLIS), grants: undefined };
    default:
      return absurd(lacking);
  }
};
