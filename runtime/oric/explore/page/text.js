"use strict";
/* Colours of code: one line at a time, for PTX, Ori and machine code alike. */

const TOKEN = /(\/\/.*|\/\*.*?\*\/|\(\*.*?\*\))|(@!?[%\w]+)|(%[\w.]+|\b(?:U?R\d+(?:\.\d+)?(?::\d+)?|U?P\d+|B\d+|U?RZ|U?PT|SR_?\w+|UR\d+))|(`\([^)]*\)|\bbix\d+:?|\.L_x?_?\d+|\$[\w$]+)|(-?\b0x[0-9a-f]+\b|-?\b\d[\w.]*)/gi;
const CLASSES = [, "c", "g", "r", "l", "n"];
const OPCODE = /^(\s*(?:@!?[%\w]+\s+)?)([A-Za-z.][\w.]*(?:\{[^}]*\})?)/;

function colour(text, into) {
  let rest = text, from = 0;
  const found = OPCODE.exec(text);
  if (found && !/^\s*(bix\d+:|\/\/)/.test(text)) {
    plain(found[1], into);
    into.append(element("span", { class: "o" }, found[2]));
    from = found[0].length;
  }
  rest = text.slice(from);
  plain(rest, into);
  return into;
}

function plain(text, into) {
  let from = 0;
  for (const match of text.matchAll(TOKEN)) {
    const kind = CLASSES[match.slice(1).findIndex((part) => part !== undefined) + 1];
    if (match.index > from) into.append(text.slice(from, match.index));
    into.append(element("span", { class: kind }, match[0]));
    from = match.index + match[0].length;
  }
  if (from < text.length) into.append(text.slice(from));
}

/* The operation of a line of machine code, with its modifiers and without the guard. */
function opcodeOf(text) {
  const words = text.trim().split(/\s+/, 2);
  return (words[0].startsWith("@") && words.length > 1 ? words[1] : words[0]).replace(/;$/, "");
}

/* A colour for a line of the PTX: neighbours differ much. */
function hue(line) { return line ? `hsl(${(line * 137.508) % 360} 62% 52%)` : "transparent"; }
