/** Bugs of lists: what pages show, and where the next one begins. */
import { Either } from "effect";
import { indexing } from "../../core/commands/approvers/ApproverIndex.ts";
import type { approverPage, PagePorts, PageWanted } from "../../runtime/ApproverPages.ts";
import type { ReadRecord } from "../../runtime/Reads.ts";
import { indexedUpTo } from "../world/OlderVersion.ts";
import { type PlantedBug, rows } from "./PlantedBug.ts";

type Pages = typeof approverPage;

/** All of a page at once; its refusal, if any, as it is. */
const whole = (real: Pages, ports: PagePorts, wanted: PageWanted) => {
  const slices = real(ports, wanted);
  const records: Array<ReadRecord> = [];
  for (;;) {
    const slice = slices.next();
    if (slice.done === true) return Either.map(slice.value, (next) => ({ records, next }));
    records.push(...slice.value);
  }
};

/** The next page begins behind the first approver that was one too many for this page. */
const offByOne = (real: Pages): Pages =>
  function* pages(ports, wanted) {
    const page = whole(real, ports, { ...wanted, limit: wanted.limit + 1 });
    if (Either.isLeft(page)) return Either.left(page.left);
    const { records, next } = page.right;
    yield records.slice(0, wanted.limit);
    return Either.right(records.length > wanted.limit ? next : undefined);
  };

/** What has one of the pairs is shown. */
const anyPair = (real: Pages): Pages =>
  function* pages(ports, wanted) {
    const { filter, limit } = wanted;
    const found = new Map<string, ReadRecord>();
    for (const pair of filter.metadata.length < 2 ? [filter.metadata] : filter.metadata.map((each) => [each])) {
      const page = whole(real, ports, { ...wanted, filter: { ...filter, metadata: pair } });
      if (Either.isLeft(page)) return Either.left(page.left);
      for (const record of page.right.records) found.set(record.approver.ref, record);
      if (filter.metadata.length < 2) {
        yield page.right.records;
        return page.pipe(Either.map(({ next }) => next));
      }
    }
    const refs = [...found.keys()].toSorted();
    yield refs.slice(0, limit).flatMap((ref) => found.get(ref) ?? []);
    return Either.right(refs.length > limit ? `${refs[limit - 1]} ` : undefined);
  };

export const listBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "skipping-page",
    changes: "a page of a list begins one approver too late",
    finds: "S40",
    tampering: () => ({ pages: offByOne }),
  },
  {
    name: "half-an-index",
    changes: "the first part of an index that is made for an older disk is taken for the whole",
    finds: "S13",
    orFinds: ["S40"],
    schedule: "disks-before-the-index",
    steps: 5_000,
    tampering: () => ({
      ...rows("indexed", () => ({ upTo: undefined }))(),
      stepped: (_world, _peer, state) => {
        if ((indexedUpTo(state) ?? "") === "") return;
        Object.assign(state.modules, { [indexing.name]: { ...state.modules[indexing.name], behind: new Map() } });
      },
    }),
  },
  {
    name: "any-pair",
    changes: "a list of two metadata filters shows what has one of them",
    finds: "S40",
    tampering: () => ({ pages: anyPair }),
  },
  {
    name: "as-many-as-there-may-be",
    changes: "a list with a limit above the greatest has the greatest",
    finds: "S40",
    tampering: () => ({ query: (real) => (query) => real(query.replace("limit=201", "limit=200")) }),
  },
  {
    name: "any-limit-as-text",
    changes: "the limit of a list is read as a number, however it is written",
    finds: "S40",
    tampering: () => ({
      query: (real) => (query) =>
        real(query.replace(/limit=([0-9.]+)/u, (_, text: string) => `limit=${Math.trunc(Number(text))}`)),
    }),
  },
];
