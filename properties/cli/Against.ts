/** One command of the command line, against one service that is made for it. */
import { type Finished, runCustody } from "./CustodyProcess.ts";
import { type FakeService, fakeService, type Received, type Reply } from "./FakeService.ts";
import { runInProcess } from "./InProcess.ts";

/** What such a command has in its environment. */
export const token = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ0ZXN0In0.c2lnbmF0dXJl";

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  /** All of standard input: such a command runs in a process of its own. */
  readonly input?: string;
}

/** Runs one command against a service that answers every request alike. */
export const against = async (
  reply: (request: Received) => Reply,
  args: ReadonlyArray<string>,
  { env = {}, input }: Surroundings = {},
): Promise<Finished & Pick<FakeService, "received" | "url">> => {
  const service = await fakeService(reply);
  try {
    const surroundings = { CUSTODY_TOKEN: token, CUSTODY_URL: service.url, ...env };
    const finished = await (input === undefined
      ? runInProcess(args, surroundings)
      : runCustody(args, { env: surroundings, input }));
    return { ...finished, received: service.received, url: service.url };
  } finally {
    await service.close();
  }
};
