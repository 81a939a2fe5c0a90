"""oricgen: compiles the YAML specification in ``spec/`` into tables and C source in ``build/``."""
