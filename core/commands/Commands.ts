/** The commands and modules of this version of the service; a new one of either is one more line here. */
import { type Composition, composed } from "../protocol/Composition.ts";
import { promotions } from "../protocol/PromotionModule.ts";
import { approvers } from "./approvers/ApproversModule.ts";
import { destroyKey } from "./destroyKey/DestroyKey.ts";
import { enrollment } from "./enrollPasskey/EnrollmentModule.ts";
import { enrollPasskey } from "./enrollPasskey/EnrollPasskey.ts";
import { keys } from "./keys/KeysModule.ts";
import { makeKey } from "./makeKey/MakeKey.ts";
import { makeKeyModule } from "./makeKey/MakeKeyModule.ts";
import { registerKey } from "./registerKey/RegisterKey.ts";
import { repairing } from "./repairShare/RepairModule.ts";
import { replaceMetadata } from "./replaceMetadata/ReplaceMetadata.ts";
import { signatures } from "./signWithKey/SigningModule.ts";

const modules = [approvers, enrollment, keys, makeKeyModule, repairing, signatures, promotions] as const;

export const commands: Composition = composed(
  [registerKey, replaceMetadata, enrollPasskey, makeKey, destroyKey],
  modules,
);

type Together<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer I) => void ? I : never;
type Module = (typeof modules)[number];

/** The tables of all modules, each with its codec. */
export type ModuleTables = Together<Module["tables"]>;
type Parts = Together<Module["messages"]>;
/** The codecs of all their messages, by tag. */
export type ModuleMessages = { readonly [T in keyof Parts]: Parts[T] extends { readonly codec: infer C } ? C : never };
