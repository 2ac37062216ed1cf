"""SQL text to bound queries: tokens, syntax, names and types; and back to Spark SQL text."""

from eddyline.sql.bind import bind
from eddyline.sql.grammar.select import parse
from eddyline.sql.render import render
from eddyline.sql.resolver import Resolver

__all__ = ["Resolver", "bind", "parse", "render"]
