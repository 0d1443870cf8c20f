/**
 * The common parts of tests of enrollment: a cluster with it enabled, its two calls, links as the command line prints
 * them, and the search for secrets that only callers may have.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makeCredential, type Making } from "../webauthn/Authenticator.ts";
import type { Answered, ServerCluster } from "./ServerCluster.ts";

const optionsPath = "/v1/custody/approvers/webauthn/registration/options";
const finishPath = "/v1/custody/approvers/webauthn/registration/finish";

/** The origin of one peer, as a browser is sent there. */
export const originOf = (cluster: ServerCluster, id: number): string =>
  `http://localhost:${new URL(cluster.server(id).url).port}`;

/** Configuration of the relying party of the test data, with an origin that only a test can have. */
export const enrollingElsewhere = (more = ""): string =>
  `webauthn: {enabled: true, rp-id: example.org, rp-name: Test Custody, origins: ["https://example.org", "https://a.example.org"]${more === "" ? "" : `, ${more}`}}`;

/** Configuration of a relying party on localhost, with every peer as an origin. `more` is YAML for the same section. */
export const enrolling =
  (more = "") =>
  (ports: ReadonlyArray<number>): string =>
    `webauthn: {enabled: true, rp-id: localhost, rp-name: Test Custody, origins: [${ports
      .map((port) => `"http://localhost:${port}"`)
      .join(", ")}]${more === "" ? "" : `, ${more}`}}`;

/** The contents of an enrollment link. */
export interface Invitation {
  readonly invitation: unknown;
  readonly expiresAt: unknown;
  readonly publicKey: unknown;
}

/** The link of an invitation, at an origin. */
export const linkOf = (origin: string, { invitation, expiresAt, publicKey }: Invitation): string => {
  const json = JSON.stringify({ invitation, expiresAt, publicKey });
  return `${origin}/enroll#${Buffer.from(json).toString("base64url")}`;
};

/** The answer to an options call, as far as tests look at it. */
export interface Offered extends Answered {
  readonly invitation: string;
  readonly registrationId: string;
  readonly challenge: Uint8Array;
  /** The token it was asked for with. */
  readonly token: string;
}

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

/** Asks again while the service says that the same request may succeed later, as callers are told to. */
const insisting = async (ask: () => Promise<Answered>): Promise<Answered> => {
  const answered = await ask();
  return answered.status === 503 && answered.json["retryable"] === true ? insisting(ask) : answered;
};

/** Every byte that the peers of a cluster have stored or logged so far. */
export const leftBehind = (cluster: ServerCluster): Buffer => {
  const files = cluster.ids.flatMap((id) => {
    const { dataDir } = cluster.member(id);
    return readdirSync(dataDir).map((name) => readFileSync(join(dataDir, name)));
  });
  return Buffer.concat([...files, Buffer.from(cluster.logs.join(""))]);
};

/** Callers of a cluster that keep every secret they are given, to look for it afterwards where none may be. */
export class Enrollees {
  readonly invitations: Array<string> = [];
  readonly tokens: Array<string> = [];
  readonly registrationIds: Array<string> = [];
  readonly #cluster: ServerCluster;
  #registrars = 0;
  readonly #holders = new Map<string, Promise<string>>();

  constructor(cluster: ServerCluster) {
    this.#cluster = cluster;
  }

  async token(permissions: ReadonlyArray<string>, subject = "holder"): Promise<string> {
    const token = await this.#cluster.mint(permissions, 3_600_000, Date.now(), subject);
    this.tokens.push(token);
    return token;
  }

  /** A registrar of its own for every call, unless one is named: each may have eight unfinished sessions. */
  async options(through: number, body: unknown, registrar = `registrar-${this.#registrars++}`): Promise<Offered> {
    const token = await this.token(["service.approvers.register"], registrar);
    const answered = await insisting(() => this.#cluster.post(through, optionsPath, body, { "x-jwt-token": token }));
    const { json } = answered;
    const [invitation, registrationId] = [String(json["invitation"]), String(json["registrationId"])];
    if (answered.status === 200) {
      this.invitations.push(invitation);
      this.registrationIds.push(registrationId);
    }
    const challenge = Buffer.from(String(field(json["publicKey"], "challenge")), "base64url");
    return { ...answered, invitation, registrationId, challenge, token };
  }

  /** Finishes with a token that allows nothing. */
  finish(through: number, body: unknown): Promise<Answered> {
    return insisting(() => this.finishOnce(through, body));
  }

  /** The same, for the service's first answer, whatever it is. */
  async finishOnce(through: number, body: unknown, holder = "holder"): Promise<Answered> {
    const token = this.#holders.get(holder) ?? this.token([], holder);
    this.#holders.set(holder, token);
    return this.#cluster.post(through, finishPath, body, { "x-jwt-token": await token });
  }

  /**
   * Sends responses that must be refused, each to its own peer in turn, and eight at a time.
   *
   * @returns those that were not refused with their code, and their answers
   */
  async notRefused(
    responses: ReadonlyArray<{ readonly code: string; readonly body: string | Uint8Array; readonly holder: string }>,
  ): Promise<ReadonlyArray<object>> {
    const wrong: Array<object> = [];
    const lanes = Array.from({ length: 8 }, async (_, lane) => {
      for (const [index, { code, body, holder }] of responses.entries()) {
        if (index % 8 !== lane) continue;
        const { status, json } = await this.finishOnce((index % 3) + 1, body, holder);
        const first = Array.isArray(json["errors"]) ? json["errors"][0] : undefined;
        if (status !== 400 || field(first, "code") !== code) wrong.push({ code, status, json });
      }
    });
    await Promise.all(lanes);
    return wrong;
  }

  /** Which invitations and tokens of these callers are in some bytes, in any form in which they would be written. */
  secretsIn(bytes: Buffer): ReadonlyArray<string> {
    const invitations = this.invitations.filter((invitation) => {
      const raw = Buffer.from(invitation, "base64url");
      // Padded or in the other alphabet, its longest run of common characters would still be there.
      const run = invitation.split(/[-_]/).reduce((longest, each) => (each.length > longest.length ? each : longest));
      return [run, raw, raw.toString("hex")].some((form) => bytes.includes(form));
    });
    // The header of one token is that of all.
    const isIn = (token: string): boolean =>
      token
        .split(".")
        .slice(1)
        .some((part) => bytes.includes(part));
    return [...invitations, ...[this.#cluster.token, ...this.tokens].filter(isIn)];
  }

  /** A credential for a session, as an authenticator and its browser make it at `https://example.org`. */
  credential({ challenge }: Offered, seed: string, making: Partial<Making> = {}) {
    return makeCredential({ challenge, origin: "https://example.org", rpId: "example.org", seed, ...making });
  }
}
