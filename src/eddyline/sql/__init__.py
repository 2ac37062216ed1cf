"""SQL text to bound queries: tokens, syntax, names and types; and back to Spark SQL text."""

from eddyline.sql.bind import Resolver, bind
from eddyline.sql.render import render
from eddyline.sql.select import parse

__all__ = ["Resolver", "bind", "parse", "render"]
