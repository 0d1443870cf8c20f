/** docs/cli.md, on the peers of docs/operations.md. */
import type { Page } from "../Documented.ts";
import { freeRow } from "../FreePorts.ts";
import type { OperatorsWorld } from "./Operations.ts";

type W = OperatorsWorld;

const anyCommand = (words: string) => ({
  run: (command: string) => command.replace("COMMAND", words),
  because: "COMMAND is one of them",
});

export const cli: Page<W> = {
  file: "docs/cli.md",
  entries: [
    { of: "custody COMMAND --help", as: anyCommand("approvers register"), prints: /custody approvers register/ },
    {
      of: "npm run -s custody -- COMMAND",
      as: {
        run: (command, { checkout }) =>
          command.replace("npm run", `npm --prefix ${checkout} run`).replace("COMMAND", "--version"),
        because: "COMMAND is --version, from another folder",
      },
      prints: /^\d+\.\d+\.\d+$/m,
    },
    { of: "npx custody COMMAND", as: anyCommand("policies --help"), prints: /Check policies/ },
    { of: "openssl genpkey -algorithm ed25519" },
    { of: "openssl pkey -in alice.key" },
    {
      of: "custody approvers register --id alice",
      prints: /^Registered: alice@sha256:/m,
      after: async ({ sandbox }, printed) => {
        await sandbox.run(`ref=${/^Registered: (\S+)$/m.exec(printed)?.[1]}`);
      },
    },
    {
      of: "custody keys create --id invoices-2026",
      before: async ({ sandbox }) => void (await sandbox.run("echo 'twelve ducats' > invoice.pdf")),
      prints: /^Created: invoices-2026, generation 1$/m,
      again: /^Created already: invoices-2026, generation 1$/m,
    },
    { of: "custody keys public invoices-2026", prints: /^Written: invoices\.pem$/m },
    { of: "custody sign --key invoices-2026", prints: /^Signed with invoices-2026, generation 1: invoice\.sig$/m },
    { of: "openssl pkeyutl -verify", prints: /Signature Verified Successfully/ },
    { of: "custody verify --key invoices-2026", prints: /^Valid$/m },
    {
      of: "custody keys refresh invoices-2026",
      prints: /^Refreshed: invoices-2026, generation 2$/m,
      again: /^Refreshed: invoices-2026, generation 2$/m,
    },
    {
      of: "custody keys rotate invoices-2026",
      prints: /^Rotated: invoices-2026, generation 3$/m,
      again: /^Rotated: invoices-2026, generation 3$/m,
    },
    { of: "custody keys destroy invoices-2026", prints: /^Destroyed: invoices-2026, generation 2$/m },
    { of: 'custody approvers metadata set "$ref"', prints: /treasury/ },
    {
      of: "custody policies check",
      before: async ({ sandbox }) => {
        const policy = '{"fourEye":{"mode":"STRICT","m":1,"n":1,"keys":[{"ref":"%s"}]}}';
        await sandbox.run(`printf '${policy}' "$ref" > policy.json`);
      },
      as: { run: (command) => `${command} policy.json`, because: "the policy pins alice" },
    },
    { of: "custody approvers invite --id alice", prints: /https:\/\/custody\.example\.com\/enroll#\S{40,}/ },
    {
      of: "custody dev [--peers 3]",
      before: async (world) => void (world.port = await freeRow()),
      as: {
        run: (command, { port }) =>
          command.replaceAll(/[[\]]/g, "").replace("7300", `${port}`).replace("FILE", "ready.json"),
        because: "the brackets mean that each may be left out; other ports are free",
      },
      beside: /"peers":\s*\[/,
    },
    {
      of: "custody dev promote --peers 3",
      as: { run: (command) => `${command} --data nowhere`, because: "README.md has a folder promoted" },
      code: 2,
      prints: /begin with custody dev --peers 1/,
    },
    { of: "custody token --data .custody-dev", prints: /^ey[\w-]+\.[\w-]+\.[\w-]+$/m },
  ],
};
