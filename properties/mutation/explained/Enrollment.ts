/** Of `core/enrollment`. */
import { type ExplainedFiles, FOR_TYPES, REMEMBERED } from "./Reasons.ts";

export const enrollment: ExplainedFiles = {
  "core/enrollment/Completion.ts": {
    [`${FOR_TYPES} A completion is written with the certificate of its finish, and taken back with it.`]: [
      ["effects !== undefined && isCompletion(effects)", "true"],
      ['view.get("certificates", row.proposalId)?.proposal', 'view.get("certificates", row.proposalId).proposal'],
    ],
  },
  "core/enrollment/Consumption.ts": {
    "Of two equal counters either is the higher one.": [
      ["stored.signCount <= initial.signCount", "stored.signCount < initial.signCount"],
    ],
  },
  "core/enrollment/Enrollment.ts": {
    [REMEMBERED]: [
      ["known !== undefined && known.settings === settings", "false"],
      ["{ settings, meaning }", "{}"],
    ],
  },
  "core/enrollment/Finish.ts": {
    [REMEMBERED]: [
      ["known !== undefined && known.crypto === crypto", "false"],
      ["{ crypto, request }", "{}"],
      ["known !== undefined && known.session === digest && known.ceremony === ceremony", "false"],
      ["{ ceremony, session: digest, meaning }", "{}"],
      ["known !== undefined && known.createdAt === proposedAt", "false"],
    ],
    [`${FOR_TYPES} Nothing is verified before there is found to be a relying party.`]: [
      ["relyingParty === undefined", "false"],
    ],
  },
  "core/enrollment/KnownCredentials.ts": {
    [`${FOR_TYPES} The descriptor of a passkey that is stored names its credential.`]: [
      ['typeof credentialId === "string"', "true"],
    ],
    "Pages after the last one are empty; the condition saves the look at them.": [["page.length < PAGE", "false"]],
  },
  "core/enrollment/SessionMember.ts": {
    [`${FOR_TYPES} There is a check of a token for each session that is shown.`]: [['{ _tag: "Unavailable" }', "{}"]],
    [`${FOR_TYPES} There are as many acknowledgements as sessions that they were asked for.`]: [
      ["entry !== undefined", "true"],
    ],
  },
  "core/enrollment/SessionWriter.ts": {
    "Nothing comes of no offers; the condition saves the way to it.": [["turn.state.offers.size === 0", "false"]],
    "Nobody is asked where there is nobody or nothing to ask for; the condition saves a timer that finds nothing.": [
      ["turn.others.length > 0", "true"],
      ["turn.others.length > 0", "turn.others.length >= 0"],
      ["items.length === 0", "false"],
      ["isOpen", "true"],
      ["false", "true"],
    ],
    [`${FOR_TYPES} A session is stored when every other member has acknowledged it, and its own signature is one.`]: [
      ["own === undefined", "false"],
      ["[]", '["Stryker was here"]'],
    ],
  },
};
