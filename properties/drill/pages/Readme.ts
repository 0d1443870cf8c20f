/** README.md and docs/architecture.md, on the cluster that `npm start` makes of this checkout. */
import type { Page } from "../Documented.ts";
import { freeRow } from "../FreePorts.ts";
import { must, until } from "../Programs.ts";
import { Sandbox, type World } from "../Sandbox.ts";

export interface CheckoutWorld extends World {
  /** The port of the first peer; the others' follow. */
  readonly port: number;
  /** The command that registers somebody while a peer is away. */
  registers: string;
  digest: string;
}

/** @param folder where the cluster's own folder goes, and what the session remembers */
export const checkoutWorld = async (checkout: string, folder: string): Promise<CheckoutWorld> => {
  const port = await freeRow();
  const instead = [
    [".custody-dev", `${folder}/.custody-dev`],
    [".custody-grown", `${folder}/.custody-grown`],
    ...[0, 1, 2].map((more) => [`:730${more}`, `:${port + more}`] as const),
  ] as const;
  return { sandbox: new Sandbox({ folder: checkout, instead }, folder), port, registers: "", digest: "" };
};

export const readme: Page<CheckoutWorld> = {
  file: "README.md",
  entries: [
    {
      of: "npm ci && npm start",
      as: {
        run: (command, { port }) => `${command.replace("npm ci && ", "")} -- --data .custody-dev --port ${port}`,
        because: "the checkout is installed, and other ports are free",
      },
      beside: /Ctrl-C stops every peer/,
    },
    { of: "npm ci && npm test", not: "ci" },
    { of: "npm ci", not: "ci" },
    { of: "key=$(openssl" },
    { of: "curl -sS -i -H", prints: /^HTTP\/1\.1 201 /, again: /^HTTP\/1\.1 200 / },
    { of: "ref=$(curl" },
    { of: "curl -sS -H", prints: /^\{"id":"alice","ref":"alice@sha256:.*"team":"treasury"/ },
    { of: "raw=$(printf" },
    {
      of: "printf 'SERVICE_APPROVER_V1",
      prints: /\b[0-9a-f]{64}\n/,
      after: (world, printed) => void (world.digest = /\b[0-9a-f]{64}$/m.exec(printed)?.[0] ?? ""),
    },
    {
      of: 'echo "$ref"',
      after: ({ digest }, printed) =>
        must(printed.trim() === `alice@sha256:${digest}`, `the ref is ${printed.trim()}, computed was ${digest}`),
    },
    { of: "curl -sS -i -X PUT", prints: /^HTTP\/1\.1 200 [^]*"team":"payments"/, again: /^HTTP\/1\.1 412 / },
    { of: "export CUSTODY_URL" },
    { of: "npm run -s custody -- keys create", prints: /^Created: k1, generation 1$/m },
    { of: "npm run -s custody -- keys public", prints: /^Written: / },
    { of: "kill -9" },
    { of: "curl -sS -H", prints: /"team":"payments"/ },
    { of: "key=$(openssl" },
    {
      of: "curl -sS -H",
      prints: /"status":503,.*"members":\[\{"peerId":2,/,
      after: (world, _printed, command) => void (world.registers = command),
    },
    { of: "npm run -s custody -- sign", prints: /^Signed with k1, generation 1: / },
    { of: "openssl pkeyutl -verify", prints: /Signature Verified Successfully/ },
    {
      of: "npm run -s custody -- server --config",
      beside: /"event":"listening"/,
      after: ({ sandbox, registers }) =>
        until("the registration is repeated with success", async () =>
          (await sandbox.run(registers)).stdout.startsWith('{"id":"bob","ref":'),
        ),
    },
    { of: "npm run -s custody -- approvers invite", prints: /http:\/\/localhost:\d+\/enroll#\S{40,}/ },
    {
      of: "npm run -s custody -- dev --peers 1",
      as: {
        run: (command) =>
          [
            `${command.replace(/ *#.*$/, "")} --ready-file .custody-grown.json &`,
            "until [ -f .custody-grown.json ]; do sleep 0.2; done",
            `kill "$(node -p 'JSON.parse(fs.readFileSync(".custody-grown/dev.pid")).pid')"; wait`,
          ].join("\n"),
        because: "it is stopped once it is ready",
      },
      prints: /stopping 1 peer/,
    },
    { of: "npm run -s custody -- dev promote", beside: /Ctrl-C stops every peer/ },
    { of: "npm run sim -- --seed 42", prints: /\b[0-9a-f]{16}/ },
    { of: "npm run sim -- --seeds 1..100", prints: /100/ },
  ],
};

export const architecture: Page<CheckoutWorld> = {
  file: "docs/architecture.md",
  entries: [
    {
      of: "strace -f",
      needs: "strace",
      before: async ({ sandbox, registers }) => {
        const another = `key=$(openssl genpkey -algorithm ed25519 | openssl pkey -pubout -outform DER | openssl base64 -A)`;
        const registersCarol = registers.replace('"id":"bob"', '"id":"carol"');
        await sandbox.run(`(sleep 1; ${another}; ${registersCarol}) >/dev/null 2>&1 &`);
      },
      as: { run: (command) => `timeout 5 ${command}`, because: "for five seconds, in which somebody is registered" },
      prints: /(?=[^]*sync\()(?=[^]*TCP)/,
    },
    { of: "npm run check", not: "ci" },
  ],
};
