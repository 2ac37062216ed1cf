"""A plan made once for a template of joins gives, for any constants, what the join with them means."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline import reference
from eddyline.model.join import BoundJoin, virtual_column
from eddyline.model.query import Query
from eddyline.normalize import JoinPlan, pin, plan_join
from eddyline.normalize.constants import substitute
from eddyline.sql import bind
from eddyline.testing.joins.draw import draw_join
from eddyline.testing.joins.streams import JoinStreams, batch_of, draw_rows, draw_streams
from tests.differential.normal_joins import joined_row, pair_holds
from tests.property.normal_forms import draw_value
from tests.property.test_normalize_templates import with_parameters

ROWS = 8


def planned(join: BoundJoin, streams: JoinStreams) -> tuple[BoundJoin, JoinPlan]:
    """The template with as many parameters as a plan can have."""
    known = {stream.name: stream for stream in streams.both}
    made = plan_join(join, known)
    while made.pinned:
        join = pin(join, made.pinned)
        made = plan_join(join, known)
    return join, made


@settings(max_examples=25)
@given(st.randoms(use_true_random=False))
def test_plans_hold_for_all_values(source: random.Random) -> None:
    streams = draw_streams(source)
    known = {stream.name: stream for stream in streams.both}
    join = bind(Query("j", str(draw_join(source, streams))), streams.both, time_zone=streams.zone)
    assert isinstance(join, BoundJoin)
    parameters = []
    template, made = planned(replace(join, predicate=with_parameters(join.predicate, parameters)), streams)
    drawn = {name: draw_rows(source, stream, streams.scale, 0, ROWS) for name, stream in known.items()}
    rows = {
        name: reference.rows(batch_of(drawn[name], range(ROWS)), stream) for name, stream in known.items()
    }
    for share in (1.0, 0.5):
        values = [p.value if source.random() < share else draw_value(source, p.type) for p in parameters]
        normal, predicate = made.instantiate(values), substitute(template.predicate, values)
        for one in rows[join.sources[0].stream]:
            for other in rows[join.sources[1].stream]:
                row = joined_row(normal, one, other)
                times = [row[virtual_column(s.alias, str(known[s.stream].event_time))] for s in join.sources]
                if all(isinstance(time, int) and abs(time) < 2**62 for time in times):
                    expected = reference.evaluate(predicate, row, time_zone=streams.zone) is True
                    assert pair_holds(normal, known, one, other) is expected
