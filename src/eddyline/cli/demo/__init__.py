"""`eddyline demo`: a market, a thousand standing queries that come and go, and what they deliver, live."""

from eddyline.cli.demo.command import demo as demo
