"""The protocol: requests of an editor to what answers them. Needs pygls (``pip install 'oric[lsp]'``).

Source: Language Server Protocol 3.17.
"""

from __future__ import annotations

import asyncio
import gc
import os
import re
import sys
from collections.abc import Iterable
from typing import Final

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from oric.support.diagnostics import ERROR, INFO, WARNING
from oric.support.version import VERSION

from . import complete, navigate
from . import outline as ol
from .document import Document
from .hover import hover, machine_code
from .session import Change, Message, Session

_HOVER_PATIENCE: Final = 3.0  # seconds that a hover waits for machine code
_SECTION: Final = "oric"
_MARKED: Final = re.compile(r"\.?[\w$%:]+")
_SEVERITIES: Final = {
    ERROR: lsp.DiagnosticSeverity.Error,
    WARNING: lsp.DiagnosticSeverity.Warning,
    INFO: lsp.DiagnosticSeverity.Information,
}
_SYMBOLS: Final = {
    ol.ENTRY: lsp.SymbolKind.Function,
    ol.FUNCTION: lsp.SymbolKind.Function,
    ol.VARIABLE: lsp.SymbolKind.Variable,
    ol.PARAMETER: lsp.SymbolKind.TypeParameter,
    ol.REGISTER: lsp.SymbolKind.Field,
    ol.LABEL: lsp.SymbolKind.Key,
    ol.TABLE: lsp.SymbolKind.Array,
}
_ITEMS: Final = {
    complete.MNEMONIC: lsp.CompletionItemKind.Keyword,
    complete.QUALIFIER: lsp.CompletionItemKind.EnumMember,
    complete.DIRECTIVE: lsp.CompletionItemKind.Keyword,
    complete.TYPE: lsp.CompletionItemKind.Class,
    complete.SPECIAL: lsp.CompletionItemKind.Constant,
    complete.TARGET: lsp.CompletionItemKind.Value,
    ol.REGISTER: lsp.CompletionItemKind.Variable,
    ol.PARAMETER: lsp.CompletionItemKind.Field,
    ol.VARIABLE: lsp.CompletionItemKind.Variable,
    ol.LABEL: lsp.CompletionItemKind.Reference,
    ol.TABLE: lsp.CompletionItemKind.Reference,
    ol.FUNCTION: lsp.CompletionItemKind.Function,
    ol.ENTRY: lsp.CompletionItemKind.Function,
}


class _Protocol(LanguageServerProtocol):
    """Texts are kept by the session: lines end where the protocol says, and no text is built twice."""

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> None:
        """A text is opened."""
        opened = params.text_document
        self._session.put(opened.uri, opened.text, opened.version)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> None:
        """A text is edited."""
        changes = [_change(change) for change in params.content_changes]
        self._session.change(params.text_document.uri, changes, params.text_document.version)

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: lsp.DidCloseTextDocumentParams) -> None:
        """A text is closed."""
        self._session.close(params.text_document.uri)

    @property
    def _session(self) -> Session:
        assert isinstance(self._server, PtxServer)
        return self._server.session


class PtxServer(LanguageServer):
    """A server with its session."""

    def __init__(self) -> None:
        self.session = Session(self._publish)  # first: the protocol looks at all that it has
        self.over = False  # the client has said so
        super().__init__("oric", VERSION, protocol_cls=_Protocol)

    def document(self, uri: str) -> Document:
        """An open document; an empty one where there is none."""
        return self.session.documents.get(uri) or Document(uri, "", 0, self.session.encoding)

    def configure(self, settings: object) -> None:
        """Take settings, and tell what is wrong with them."""
        for text in self.session.configure(settings):
            self.window_show_message(lsp.ShowMessageParams(type=lsp.MessageType.Warning, message=text))

    def _publish(self, document: Document, messages: list[Message]) -> None:
        found = [_diagnostic(document, message) for message in messages]
        self.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri=document.uri, version=document.version, diagnostics=found)
        )


def _change(change: lsp.TextDocumentContentChangeEvent) -> Change:
    if isinstance(change, lsp.TextDocumentContentChangePartial):
        start, end = change.range.start, change.range.end
        return (start.line, start.character), (end.line, end.character), change.text
    return None, None, change.text


def _range(document: Document, at: int, after: int) -> lsp.Range:
    return lsp.Range(lsp.Position(*document.places.position(at)), lsp.Position(*document.places.position(after)))


def _offset(document: Document, position: lsp.Position) -> int:
    return document.places.offset(position.line, position.character)


def _diagnostic(document: Document, message: Message) -> lsp.Diagnostic:
    """A message at the word that it is about; one about the whole text at its first line."""
    at = message["offset"]
    if at < 0:
        at, after = 0, len(document.places.line_text(0))
    else:
        statement = document.mnemonic_at(at)
        word = _MARKED.match(document.text, at)
        after = word.end() if word is not None else at + 1
        if statement is not None and at == statement.at:
            after = statement.after
    text = "\n".join([message["message"], *(f"note: {note}" for note in message["notes"])])
    severity = _SEVERITIES.get(message["severity"], lsp.DiagnosticSeverity.Error)
    return lsp.Diagnostic(_range(document, at, after), text, severity=severity, source=_SECTION)


def make_server() -> PtxServer:
    """A server with all that it can do."""
    server = PtxServer()
    _add_life(server)
    _add_hover(server)
    _add_completion(server)
    _add_navigation(server)
    _add_edits(server)
    return server


def serve() -> int:
    """Serve on standard input and output until the client says that it is over, or is gone.

    Returns:
        the exit status that the protocol asks for: 0 behind ``shutdown``, else 1.
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what anything prints is no answer
    server = make_server()
    gc.freeze()  # what is there now stays
    try:
        server.start_io(stdout=answers)
    finally:
        server.session.stop()
    return 0 if server.over else 1


def _add_life(server: PtxServer) -> None:
    """The beginning, the settings, the end."""

    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        session = server.session
        session.encoding = str(getattr(server.workspace.position_encoding, "value", server.workspace.position_encoding))
        options = params.initialization_options
        if isinstance(options, dict):
            session.configure(options.get(_SECTION, options))

    @server.feature(lsp.INITIALIZED)
    async def initialized(params: lsp.InitializedParams) -> None:
        await asyncio.gather(_pull(server), server.session.checker.start())

    @server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(params: lsp.DidChangeConfigurationParams) -> None:
        settings = params.settings
        if isinstance(settings, dict) and isinstance(settings.get(_SECTION), dict):
            server.configure(settings[_SECTION])
        else:
            await _pull(server)

    @server.feature(lsp.SHUTDOWN)
    def shutdown(params: None) -> None:
        server.over = True
        server.session.stop()


async def _pull(server: PtxServer) -> None:
    """Ask the client for the settings, if it can be asked."""
    workspace = server.client_capabilities.workspace
    if workspace is None or not workspace.configuration:
        return
    wanted = lsp.ConfigurationParams([lsp.ConfigurationItem(section=_SECTION)])
    try:
        found = await server.workspace_configuration_async(wanted)
    except JsonRpcException:
        return  # it cannot, after all
    server.configure(found[0] if found else None)


def _add_hover(server: PtxServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def text_document_hover(params: lsp.HoverParams) -> lsp.Hover | None:
        document = server.document(params.text_document.uri)
        found = hover(document, _offset(document, params.position))
        if found is None:
            return None
        text = found.text
        if found.statement is not None and document.text:
            text += f"\n\n---\n\n{await _machine_code(server, document, found.statement)}"
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text), _range(document, found.at, found.after))


async def _machine_code(server: PtxServer, document: Document, statement: ol.Statement) -> str:
    """What becomes of an instruction on the target."""
    session = server.session
    title = f"{document.module.target or 'machine code'}, -O{session.level}"
    if statement.scope.parent is not None and not document.entries_of(statement.scope):
        return f"**{title}**: no kernel of this file comes here"
    task = session.code(document, statement)
    done, _ = await asyncio.wait({task}, timeout=_HOVER_PATIENCE)
    if not done:
        return f"**{title}**: still being compiled"
    if task.cancelled():
        return f"**{title}**: the text has changed"
    return machine_code(task.result(), document.lines_of(statement), title)


def _add_completion(server: PtxServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", "%", "@", "$"]))
    def text_document_completion(params: lsp.CompletionParams) -> lsp.CompletionList:
        document = server.document(params.text_document.uri)
        found = complete.complete(document, _offset(document, params.position))
        place = _range(document, found.at, found.after)
        return lsp.CompletionList(True, [_item(place, item, number) for number, item in enumerate(found.items)])


def _item(place: lsp.Range, item: complete.Item, number: int) -> lsp.CompletionItem:
    return lsp.CompletionItem(
        label=item.text,
        kind=_ITEMS[item.kind],
        detail=item.kind,
        documentation=item.doc or None,
        sort_text=f"{item.rank}{number:05}",
        filter_text=item.text,
        text_edit=lsp.TextEdit(place, item.text),
    )


def _add_navigation(server: PtxServer) -> None:
    def locations(document: Document, places: Iterable[tuple[int, int]]) -> list[lsp.Location]:
        return [lsp.Location(document.uri, _range(document, at, after)) for at, after in places]

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def text_document_definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        document = server.document(params.text_document.uri)
        found = navigate.definition_at(document, _offset(document, params.position))
        return locations(document, [(found.at, found.after)]) if found is not None else []

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def text_document_references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        document = server.document(params.text_document.uri)
        offset = _offset(document, params.position)
        found = navigate.references_at(document, offset, params.context.include_declaration)
        return locations(document, [(place.at, place.after) for place in found])

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def text_document_highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        document = server.document(params.text_document.uri)
        found = navigate.references_at(document, _offset(document, params.position))
        return [lsp.DocumentHighlight(_range(document, place.at, place.after)) for place in found]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def text_document_symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        document = server.document(params.text_document.uri)
        return [_symbol(document, found) for found in navigate.symbols(document)]


def _symbol(document: Document, symbol: navigate.Symbol) -> lsp.DocumentSymbol:
    definition = symbol.definition
    return lsp.DocumentSymbol(
        name=definition.name + (f"<{definition.count}>" if definition.count >= 0 else ""),
        kind=_SYMBOLS[definition.kind],
        range=_range(document, symbol.begin, symbol.end),
        selection_range=_range(document, definition.at, definition.after),
        detail=definition.type or definition.kind,
        children=[_symbol(document, inner) for inner in symbol.inner],
    )


def _add_edits(server: PtxServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    async def text_document_formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        document = server.document(params.text_document.uri)
        found = await server.session.format(document)
        if found is None or server.session.documents.get(document.uri) is not document:
            return None
        begin, end, text = found
        return [lsp.TextEdit(_range(document, begin, end), text)]

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def text_document_prepare_rename(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        document = server.document(params.text_document.uri)
        offset = _offset(document, params.position)
        occurrence, definition = document.outline.occurrence_at(offset), navigate.definition_at(document, offset)
        if occurrence is None or definition is None:
            return None
        if definition.count >= 0 and occurrence.name != definition.name:
            return None  # one register of a range
        return _range(document, occurrence.at, occurrence.after)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def text_document_rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        document = server.document(params.text_document.uri)
        try:
            changes = navigate.renamed(document, _offset(document, params.position), params.new_name)
        except navigate.RenameError as error:
            raise JsonRpcException(message=str(error), code=lsp.LSPErrorCodes.RequestFailed) from None
        edits = [lsp.TextEdit(_range(document, place.at, place.after), new) for place, new in changes]
        return lsp.WorkspaceEdit(changes={document.uri: edits})
