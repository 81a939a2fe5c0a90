"""What the compiler knows of a function at some place of the pipeline, as records and as text (docs/inside.md).

A kind of dump (:mod:`oric.inside.kinds`) makes a record of a function, plain data that are valid by the JSON schema of the kind,
and lines of text of the record. Nothing here changes a function, and no compilation needs it.
"""
