"""The eddy of CACQ: every tuple carries its lineage and is routed from filter to filter, one decision at a time.

It is the reference for what lineage means and the base for joins. It is written to be read: matching at speed is the
business of the other executors.

| file | gives |
|---|---|
| `clauses.py` | a predicate as AND of ORs, its members in the form that filters take |
| `grouped_filter.py`, `asc_filter.py` | all predicates on one subject, probed together |
| `flowing.py` | a tuple in flight and its bits |
| `operator.py`, `source.py` | filters as operators; operators, queries and completion masks of one source |
| `routing.py` | who decides where a tuple goes: random, fixed, tickets |
| `eddy.py` | the eddy itself |
"""

from eddyline.execute.eddy.eddy import Eddy, Result
from eddyline.execute.eddy.routing import (
    POLICIES,
    FixedRouting,
    Policy,
    RandomRouting,
    TicketRouting,
    make_policy,
)

__all__ = [
    "POLICIES",
    "Eddy",
    "FixedRouting",
    "Policy",
    "RandomRouting",
    "Result",
    "TicketRouting",
    "make_policy",
]
