/**
 * One HTML file that holds everything: the data, the script, the style. It requests nothing from anywhere: its policy
 * forbids every request, and allows exactly this script and this style by their digests.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Encoding } from "effect";
import type { PictureData } from "./PictureData.ts";

/** The parts of the page that are files. */
export interface PageSource {
  readonly script: string;
  readonly style: string;
}

/** A text inside an element or an attribute. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** JSON that ends no script element, opens no comment and is a line of script. */
export const scriptJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

const digest = (text: string): string => `'sha256-${Encoding.encodeBase64(sha256(utf8ToBytes(text)))}'`;

/** No request, no frame, no form, no markup made by a script. */
const policy = ({ script, style }: PageSource): string =>
  [
    "default-src 'none'",
    `script-src ${digest(script)}`,
    `style-src ${digest(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");

const body = `<a class="skip" href="#list">Skip to the events</a>
<header>
<div class="names"><h1 id="title"></h1><span id="outcome" class="outcome"></span><small id="facts"></small></div>
<div class="tools" role="toolbar" aria-label="Tools">
<div class="search" role="search"><input id="search" type="search" placeholder="Search: text, type:Prepare, peer:2, request:r12, ref:…" aria-label="Search the events" autocomplete="off" spellcheck="false"><output id="matches" for="search"></output><button type="button" id="previous-match" title="Previous match (N)" aria-label="Previous match">↑</button><button type="button" id="next-match" title="Next match (n)" aria-label="Next match">↓</button></div>
<details class="filters"><summary>Show</summary><div class="panel"><fieldset><legend>Messages and events</legend><div id="filter-kinds"></div></fieldset><fieldset><legend>Peers</legend><div id="filter-peers"></div></fieldset><fieldset><legend>Lines</legend><div id="filter-rest"></div></fieldset></div></details>
<button type="button" id="smaller" title="Smaller (-)" aria-label="Smaller">−</button><button type="button" id="larger" title="Larger (+)" aria-label="Larger">+</button>
<button type="button" id="theme" title="Light or dark" aria-label="Light or dark">◐</button><button type="button" id="open-help" title="Keys (?)" aria-label="Keys and help">?</button>
</div>
</header>
<section id="verdict" aria-label="Verdict" hidden></section>
<main>
<div id="scroller">
<div id="heads-row"><div class="list-head"><b>time</b> <small>s</small> <b>event</b></div><div id="heads"></div></div>
<div id="sheet">
<div id="list" role="listbox" tabindex="0" aria-label="Events in order"></div>
<svg id="picture" aria-hidden="true"></svg>
</div>
</div>
<div id="overview" aria-hidden="true" title="The whole run"><canvas id="overview-canvas"></canvas><div id="overview-frame"></div></div>
<aside id="details" aria-label="The selected event" tabindex="0"></aside>
</main>
<div id="tip" hidden></div>
<div id="said" role="status" aria-live="polite"></div>
<dialog id="help" aria-labelledby="help-title"><form method="dialog"><h2 id="help-title">Keys</h2><table><tbody id="keys"></tbody></table>
<h3>What is drawn</h3>
<ul class="legend">
<li><span class="swatch of-prepare"></span> Each message is an arrow from where it was sent to where it arrived; its colour says what it is for. One that ends in a cross was lost, or found nobody; a dashed one is a second copy; a dotted one was replayed, forged or altered by a fault.</li>
<li>Down a lane: thick where the peer takes part, thin while it joins or founds, dashed while sealed, dashed amber while paused, nothing while no process runs, red while it must not sign. The bar beside it is as wide as the locks it holds are many; a block is a flush.</li>
<li>On the left, callers wait for answers; on the right, what was done to the world and for how long.</li>
<li>Every event takes one line, whatever time it took; time is printed beside it, with pauses. Long quiet stretches are folded: press one to open it.</li>
</ul>
<h3>The same run again</h3><p><code id="command"></code></p>
<button value="close">Close</button></form></dialog>`;

/** The whole file. */
export const pageOf = (data: PictureData, source: PageSource): string =>
  [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${escapeHtml(policy(source))}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${escapeHtml(`${data.run.title}${data.violation === null ? "" : `: ${data.violation.id} violated`}`)}</title>`,
    `<style>${source.style}</style>`,
    "</head>",
    "<body>",
    body,
    `<script type="application/json" id="data">${scriptJson(data)}</script>`,
    `<script>${source.script}</script>`,
    "</body>",
    "</html>",
    "",
  ].join("\n");
