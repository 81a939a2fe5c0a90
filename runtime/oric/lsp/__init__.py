"""The language server: PTX in editors (``oric lsp``, docs/lsp.md).

Only :mod:`oric.lsp.server` needs pygls. What it answers is found by modules that know nothing of the protocol: places are
character offsets there, texts are Markdown. The compiler itself runs in processes of its own (:mod:`oric.lsp.worker`), so that
no text, however broken or large, stops the server from answering.
"""
