/** What the drill's callers take for a broken promise: a registry in little, which lies in one way at a time. */
import { createHash } from "node:crypto";
import { Agent, createServer, type IncomingMessage } from "node:http";
import { afterEach, expect, it } from "vitest";
import { errorKinds } from "../../server/http/Problems.ts";
import { Load } from "./Load.ts";

interface Answer {
  readonly status: number;
  readonly body: object;
  readonly etag?: string;
}

interface Stored {
  readonly id: string;
  readonly ref: string;
  readonly metadata: object;
  readonly metadataRevision: number;
  readonly [other: string]: unknown;
}

/** What is answered in place of the truth, which may be had first. */
type Lie = (truth: () => Answer, method: string, path: string) => Answer | undefined;

const problem = (code: keyof typeof errorKinds): Answer => {
  const { status, title, retryable } = errorKinds[code];
  const instance = "urn:custody:request:00000000-0000-4000-8000-000000000000";
  const ids = { instance, requestId: instance.slice(instance.lastIndexOf(":") + 1) };
  const type = `urn:custody:problem:${code}`;
  return { status, body: { type, title, status, detail: "It is so.", code, retryable, hint: "Wait.", ...ids } };
};

/** Registers, reads, lists and replaces as one peer alone would, if it were honest. */
class Registry {
  readonly #stored = new Map<string, Stored>();

  answer(method: string, path: string, text: string): Answer {
    const [, ref = ""] = /\/approvers\/([^/?]+)/.exec(path) ?? [];
    const known = this.#stored.get(ref);
    if (method === "POST") {
      const { id, credential, metadata } = JSON.parse(text);
      const digest = createHash("sha256").update(id).digest("hex");
      const times = { createdAt: 1, updatedAt: 1 };
      return this.#keep(201, {
        id,
        ref: `${id}@sha256:${digest}`,
        credential,
        metadata,
        metadataRevision: 1,
        ...times,
      });
    }
    if (method === "PUT" && known !== undefined)
      return this.#keep(200, { ...known, ...JSON.parse(text), metadataRevision: known.metadataRevision + 1 });
    if (known !== undefined) return this.#keep(200, known);
    const id = new URL(path, "http://x").searchParams.get("id");
    const items = [...this.#stored.values()].filter((each) => id === null || each.id === id);
    return { status: 200, body: { items, nextCursor: null } };
  }

  #keep(status: number, stored: Stored): Answer {
    this.#stored.set(stored.ref, stored);
    return { status, body: stored, etag: `"${stored.metadataRevision}"` };
  }
}

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
};

const closing: Array<() => void> = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Callers at one registry that all peers share. */
const loadOn = async (lie: Lie): Promise<Load> => {
  const registry = new Registry();
  const server = createServer((request, response) => {
    void textOf(request).then((text) => {
      const { method = "", url = "" } = request;
      const truth = (): Answer => registry.answer(method, url, text);
      const { status, body, etag } = lie(truth, method, url) ?? truth();
      const isRead = status === 200 && method === "GET";
      response.writeHead(status, {
        "content-type": status < 400 ? "application/json" : "application/problem+json",
        "x-request-id": "00000000-0000-4000-8000-000000000000",
        ...(etag !== undefined && { etag }),
        ...(isRead && { "cache-control": "no-cache" }),
        ...(status === 503 && { "retry-after": "1" }),
      });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  const agent = new Agent({ keepAlive: true });
  closing.push(() => {
    agent.destroy();
    server.close();
  });
  return new Load({ ids: [1, 2, 3], of: () => ({ url }), token: "t", agent }, "here");
};

const SOME = { registered: 8, replaced: 4, reads: 8, lists: 8 };

const through = async (load: Load): Promise<number> => {
  load.start();
  try {
    await load.more(SOME);
  } finally {
    await load.stop();
  }
  return load.verify();
};

it("has nothing against an honest registry that is away now and then", async () => {
  let asked = 0;
  let isOver = false;
  const load = await loadOn((_truth, method) => {
    if (isOver || ++asked % 10 !== 0) return undefined;
    return problem(method === "GET" ? "SEALED" : "APPROVER_REPLICATION_UNAVAILABLE");
  });
  load.start();
  await load.more(SOME);
  await load.stop();
  isOver = true;
  expect(await load.verify()).toBeGreaterThanOrEqual(SOME.registered);
  expect([...load.refusals.keys()].toSorted()).toEqual(["APPROVER_REPLICATION_UNAVAILABLE", "SEALED"]);
});

/** From the n-th answer of a kind on. */
const from = (count: number, isKind: (method: string, path: string) => boolean, lie: Lie): Lie => {
  let seen = 0;
  return (truth, method, path) => (isKind(method, path) && ++seen > count ? lie(truth, method, path) : undefined);
};
const isList = (method: string, path: string): boolean => method === "GET" && path.includes("?id=");
const isRead = (method: string, path: string): boolean => method === "GET" && path.includes("@");

it.each([
  {
    lie: from(3, isRead, (truth) => ({ ...truth(), body: { ...truth().body, updatedAt: 2 } })),
    says: /reads otherwise than acknowledged/,
  },
  { lie: from(3, isList, () => ({ status: 200, body: { items: [], nextCursor: null } })), says: /a list lacks/ },
  {
    lie: from(
      3,
      (method) => method === "POST",
      (truth) => ({ ...truth(), status: 200 }),
    ),
    says: /a registration was answered 200/,
  },
  {
    lie: from(
      3,
      (method) => method === "PUT",
      () => problem("PRECONDITION_FAILED"),
    ),
    says: /answered 412/,
  },
  { lie: from(3, isRead, () => ({ status: 200, body: { no: "record" }, etag: '"1"' })), says: /not in the contract/ },
  { lie: from(3, isRead, () => ({ ...problem("SEALED"), body: { code: "SEALED" } })), says: /not in the contract/ },
  {
    lie: from(
      3,
      (method) => method === "POST",
      () => problem("KEY_ALREADY_REGISTERED"),
    ),
    says: /answered 409/,
  },
])("finds what says: $says", async ({ lie, says }) => {
  await expect(loadOn(lie).then(through)).rejects.toThrow(says);
});

it("finds that something acknowledged is gone at the end", async () => {
  let isOver = false;
  const load = await loadOn((_truth, method, path) =>
    isOver && method === "GET" && path.includes("@") ? problem("APPROVER_NOT_FOUND") : undefined,
  );
  load.start();
  await load.more(SOME);
  await load.stop();
  isOver = true;
  await expect(load.verify()).rejects.toThrow(/peer 1 lost here-/);
});
