"""The embedded engine: queries that come and go while tuples flow, versions, deliveries, accounts."""

from eddyline.engine.deliveries import Deliveries, DeliveryFailure
from eddyline.engine.delivery_log import DeliveryLog
from eddyline.engine.engine import Engine

__all__ = ["Deliveries", "DeliveryFailure", "DeliveryLog", "Engine"]
