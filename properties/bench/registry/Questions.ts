/** What is asked of a registry of any size: the same questions, about approvers anywhere in it. */
import { randomBytes, randomInt } from "node:crypto";
import type { ApproverFilter } from "../../../core/commands/approvers/Terms.ts";
import { cursorOf } from "../../../runtime/ListCursor.ts";
import { cryptoBackend } from "../../../server/crypto/CryptoBackend.ts";
import { registration } from "../../Registration.ts";
import type { Call } from "../Load.ts";
import { APART, approverOf, metadataOf, ownerOf, PURPOSES, REGIONS } from "./Approvers.ts";
import type { FilledCluster } from "./FilledCluster.ts";

const PATH = "/v1/custody/approvers";
const { crypto } = cryptoBackend("native");
const EVERYTHING: ApproverFilter = { id: undefined, type: undefined, metadata: [] };

export const refOf = (number: number): string => approverOf(crypto, number).ref;

const one = (values: ReadonlyArray<string>): string => values[randomInt(values.length)] ?? "";

const page = (parameters: Readonly<Record<string, string>>): string =>
  `${PATH}?${new URLSearchParams(parameters).toString()}`;

/** A number far down the list. */
export const deepNumber = (size: number): number => Math.floor(size * 0.8) + randomInt(Math.floor(size * 0.1));

/** The path and query of one question about a registry of so many approvers. */
type Question = (size: number) => string;

export const questions = {
  get: (size) => `${PATH}/${encodeURIComponent(refOf(randomInt(size)))}`,
  firstPage: () => PATH,
  /** One in twenty approvers has both. */
  pageOfMany: () => page({ "metadata.region": one(REGIONS), "metadata.purpose": one(PURPOSES) }),
  /** Four approvers or so have both. */
  pageOfFew: (size) => page({ "metadata.owner": ownerOf(randomInt(size)), "metadata.region": one(REGIONS) }),
  /** Many have the one, many the other, and nobody both. */
  pageOfNone: () => page({ "metadata.team": APART.team, "metadata.purpose": APART.purpose }),
  deepPage: (size) => page({ cursor: cursorOf(crypto, EVERYTHING, refOf(deepNumber(size))) }),
} satisfies Readonly<Record<string, Question>>;

export type QuestionName = keyof typeof questions;
export const questionNames = Object.keys(questions) as ReadonlyArray<QuestionName>;

/** The call that asks it. */
export const asked = ({ token, size }: Pick<FilledCluster, "token" | "size">, name: QuestionName): Call => ({
  method: "GET",
  path: questions[name](size),
  headers: { "x-jwt-token": token },
});

/** Replaces the metadata of an approver, by its revision, which is read from the peer beforehand. */
const replacement = async ({ token }: FilledCluster, url: string, number: number): Promise<Call> => {
  const path = `${PATH}/${encodeURIComponent(refOf(number))}`;
  const read = await fetch(url + path, { headers: { "x-jwt-token": token } });
  await read.text();
  return {
    method: "PUT",
    path: `${path}/metadata`,
    headers: {
      "content-type": "application/json",
      "if-match": read.headers.get("etag") ?? "",
      "x-jwt-token": token,
    },
    body: JSON.stringify({ metadata: Object.fromEntries(metadataOf(number, randomBytes(12))) }),
  };
};

/** Replacements at a peer, of approvers all over the registry, each of another one. */
export const replacements = async (cluster: FilledCluster, url: string, count: number): Promise<Array<Call>> => {
  const distance = Math.floor(cluster.size / count);
  const from = randomInt(distance);
  const calls: Array<Call> = [];
  for (let index = 0; index < count; index++) calls.push(await replacement(cluster, url, from + index * distance));
  return calls;
};

/** Registers a fresh key with metadata like that of the others, or with none. */
export const newRegistration = (token: string, size: number, withMetadata: boolean): Call => {
  const metadata = withMetadata ? Object.fromEntries(metadataOf(randomInt(size), randomBytes(12))) : {};
  return {
    method: "POST",
    path: PATH,
    headers: { "content-type": "application/json", "x-jwt-token": token },
    body: JSON.stringify(registration(`bench-${randomBytes(8).toString("hex")}`, undefined, metadata)),
  };
};
