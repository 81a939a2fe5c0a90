"""Ori, the intermediate representation: code object, blocks, instructions, packed operands, CFG, verifier."""
