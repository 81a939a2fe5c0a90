"""The passes of this package under the names that ``spec/phases.yaml`` calls them by."""

from __future__ import annotations

from typing import Final

from oric.ir.passes import PassFunction

from .aggregation import aggregate_atomics
from .balance import balance_pipes
from .cleanup import check_initial_program, remove_dead_code, sanitize
from .conditions import join_conditions
from .contraction import contract_products
from .control import analyze_control_flow, set_control_flow_last, simplify_control_flow
from .convergence import insert_convergence_barriers
from .copies import follow_copies
from .dividends import trust_tests
from .doubles import bank_doubles
from .forwarding import forward_values
from .invariants import hoist_expanded, hoist_invariants
from .legalize import check_ready, update_after_conversion
from .lifting import lift_constants
from .lone import trust_elections
from .macros import create_macros
from .narrowing import narrow_loads
from .optimize import general_optimize_early, general_optimize_late, general_optimize_mid, value_numbering
from .predication import predicate_short_blocks
from .raising import raise_loads
from .reassociation import share_sums
from .recipes import apply_nvopt_recipes
from .register_changes import part_at_register_changes, settle_register_changes
from .report import report_before_scheduling, report_final_memory_usage, report_initial_representation
from .scaling import scale_addresses
from .ssa import generate_movphi
from .switches import choose_switches, place_tables
from .uniforms import replace_uniforms_with_immediates
from .unroll import unroll_loops
from .unssa import convert_movphi
from .warpgroup import settle_group_products
from .widening import widen_accesses

PASSES: Final[dict[str, PassFunction]] = {
    "aggregate_atomics": aggregate_atomics,
    "check_initial_program": check_initial_program,
    "apply_nvopt_recipes": apply_nvopt_recipes,
    "analyze_control_flow": analyze_control_flow,
    "check_ready": check_ready,
    "choose_switches": choose_switches,
    "place_tables": place_tables,
    "update_after_conversion": update_after_conversion,
    "set_control_flow_last": set_control_flow_last,
    "report_initial_representation": report_initial_representation,
    "report_before_scheduling": report_before_scheduling,
    "report_final_memory_usage": report_final_memory_usage,
    "replace_uniforms_with_immediates": replace_uniforms_with_immediates,
    "sanitize": sanitize,
    "remove_dead_code": remove_dead_code,
    "part_at_register_changes": part_at_register_changes,
    "settle_group_products": settle_group_products,
    "settle_register_changes": settle_register_changes,
    "simplify_control_flow": simplify_control_flow,
    "contract_products": contract_products,
    "create_macros": create_macros,
    "trust_elections": trust_elections,
    "trust_tests": trust_tests,
    "lift_constants": lift_constants,
    "unroll_loops": unroll_loops,
    "generate_movphi": generate_movphi,
    "convert_movphi": convert_movphi,
    "hoist_expanded": hoist_expanded,
    "hoist_invariants": hoist_invariants,
    "general_optimize_early": general_optimize_early,
    "general_optimize_mid": general_optimize_mid,
    "general_optimize_late": general_optimize_late,
    "value_numbering": value_numbering,
    "narrow_loads": narrow_loads,
    "raise_loads": raise_loads,
    "predicate_short_blocks": predicate_short_blocks,
    "share_sums": share_sums,
    "join_conditions": join_conditions,
    "insert_convergence_barriers": insert_convergence_barriers,
    "follow_copies": follow_copies,
    "forward_values": forward_values,
    "widen_accesses": widen_accesses,
    "balance_pipes": balance_pipes,
    "bank_doubles": bank_doubles,
    "scale_addresses": scale_addresses,
}
