"""SQL text to bound queries: tokens, syntax, names and types; and back to Spark SQL text."""

from eddyline.sql.bind import bind
from eddyline.sql.render import render
from eddyline.sql.resolver import Resolver
from eddyline.sql.select import parse

__all__ = ["Resolver", "bind", "parse", "render"]
