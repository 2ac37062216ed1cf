"""SQL text to bound queries and joins: tokens, syntax, names and types; and back to Spark SQL text."""

from eddyline.sql.bind import bind
from eddyline.sql.grammar.select import parse
from eddyline.sql.render import joined_name, render, render_join
from eddyline.sql.resolver import Resolver

__all__ = ["Resolver", "bind", "joined_name", "parse", "render", "render_join"]
