/* What a run has said so far. Pure: events in, state out, no page. */

const ENDS = ["done", "stopped", "error"];

export function newRun({ run = null, conversation = null, message = null } = {}) {
  return { run, conversation, message, seq: 0, blocks: [], changed: new Set(), sources: null, stage: "", resets: 0, end: null };
}

/** Take one event into `state`: "new" was taken, "old" was known, after a "gap" attach again behind `state.seq`. */
export function take(state, event) {
  if (event.seq <= state.seq) return "old";
  if (event.seq > state.seq + 1) return "gap";
  state.seq = event.seq;
  if (event.type === "sources") state.sources = event;
  else if (event.type === "status") state.stage = event.text;
  else if (event.type === "reset") forgetWords(state, event);
  else if (event.type === "block") takeBlock(state, event);
  else if (ENDS.includes(event.type)) state.end = event;
  return "new";
}

/** What was said so far is no part of the answer, or is said once more with its sources. */
function forgetWords(state, { reason }) {
  state.isRepeat = reason === "sources_added";
  state.blocks = [];
  state.changed.clear();
  state.resets += 1;
}

function takeBlock(state, { index, html, closed }) {
  if (state.blocks[index]?.html === html && state.blocks[index].closed === closed) return;
  state.blocks[index] = { html, closed };
  state.changed.add(index);
}

/** The blocks to draw again since last asked, in order. */
export function takeChanged(state) {
  const changed = [...state.changed].sort((a, b) => a - b);
  state.changed.clear();
  return changed;
}

/** Words for "N passages from M notes in A, B". */
export function countSources({ passages }) {
  const notes = new Set(passages.map((passage) => `${passage.vault}/${passage.path}`));
  const vaults = [...new Set(passages.map((passage) => passage.vault_name))];
  return { passages: passages.length, notes: notes.size, vaults: vaults.join(", ") };
}
