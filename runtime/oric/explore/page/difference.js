"use strict";
/* What differs between the code behind two phases. Lines are the same line when they are of the same instruction or block. */

/* Indices of a longest ascending run of different numbers (Schensted 1961). */
function ascending(places) {
  const ends = [], atEnd = [], before = [];
  places.forEach((place, index) => {
    let low = 0, high = ends.length;
    while (low < high) { const middle = (low + high) >> 1; if (ends[middle] < place) low = middle + 1; else high = middle; }
    before.push(low ? atEnd[low - 1] : -1);
    ends[low] = place;
    atEnd[low] = index;
  });
  const out = [];
  for (let index = atEnd.length ? atEnd[atEnd.length - 1] : -1; index >= 0; index = before[index]) out.push(index);
  return out.reverse();
}

/*
 * Lines of the difference: {kind, row, at}. `row` is of the new code, but for kind "removed" and "was" (how a changed line was before);
 * `at`: place in the new code, -1 for lines that are not there. Kinds: "", added, removed, changed, was, moved.
 */
function difference(unit, old, fresh) {
  const place = new Map();
  old.rows.forEach((row, at) => place.set(unit.keys[row], at));
  // Lines of the heading go by their text: their keys are only places.
  const heads = new Map();
  old.rows.forEach((row, at) => { if (isHead(unit, row)) heads.set(unit.text(row), at); });
  const common = [];
  fresh.rows.forEach((row, at) => {
    const found = isHead(unit, row) ? heads.get(unit.text(row)) : place.get(unit.keys[row]);
    if (found !== undefined) common.push([found, at]);
  });
  const kept = ascending(common.map(([from]) => from)).map((index) => common[index]);
  const stays = new Set(common.map(([from]) => from)); // in the old code, what the new one has too
  const arrives = new Map(common.map(([from, to]) => [to, from]));
  const out = [];
  let atOld = 0, atNew = 0;
  for (const [nextOld, nextNew] of [...kept, [old.rows.length, fresh.rows.length]]) {
    for (; atOld < nextOld; atOld += 1) if (!stays.has(atOld)) out.push({ kind: "removed", row: old.rows[atOld], at: -1 });
    for (; atNew < nextNew; atNew += 1) out.push({ kind: arrives.has(atNew) ? "moved" : "added", row: fresh.rows[atNew], at: atNew });
    if (nextNew === fresh.rows.length) break;
    const was = old.rows[nextOld], row = fresh.rows[nextNew];
    if (unit.text(was) === unit.text(row)) out.push({ kind: "", row, at: nextNew });
    else out.push({ kind: "was", row: was, at: -1 }, { kind: "changed", row, at: nextNew });
    atOld = nextOld + 1;
    atNew = nextNew + 1;
  }
  return out;
}

function isHead(unit, row) { return unit.keys[row] < 0 && !unit.isBlock(row); }

/* How many lines of each kind. */
function tally(lines) {
  const found = { added: 0, removed: 0, changed: 0, moved: 0 };
  for (const { kind } of lines) if (kind in found) found[kind] += 1;
  return found;
}
