"use strict";

// Starts `oric lsp` and gives its answers to the editor. All that is known of PTX is known there.

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

function start() {
  const command = vscode.workspace.getConfiguration("oric").get("path") || "oric";
  const run = { command, args: ["lsp"], transport: TransportKind.stdio };
  client = new LanguageClient("oric", "Oric", run, {
    documentSelector: [{ language: "ptx" }],
    synchronize: { configurationSection: "oric" },
    initializationOptions: vscode.workspace.getConfiguration("oric"),
  });
  return client.start();
}

async function restart() {
  if (client) {
    await client.stop().catch(() => {}); // a server that is gone needs no stopping
  }
  await start();
}

async function activate(context) {
  context.subscriptions.push(vscode.commands.registerCommand("oric.restart", restart));
  context.subscriptions.push(
    vscode.workspace.onDidChangeConfiguration((event) => (event.affectsConfiguration("oric.path") ? restart() : undefined)),
  );
  await start();
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
