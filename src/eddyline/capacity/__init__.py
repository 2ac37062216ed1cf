"""What a cluster needs for so many queries and rows, reckoned from measured rates: no Spark, no data, only arithmetic.

    Load, Rates --size--> Sizing --limits--> Limit, Limit ...        estimate() does both
    batches of a pipeline, Rates --calibrate--> the rates as this pipeline has them

The formulas stand in `sizing.py`, what was measured in `measured.py`, what is assumed in both and in docs/capacity.md.
"""

from eddyline.capacity.calibrate import Calibrated as Calibrated
from eddyline.capacity.calibrate import ObservedBatch as ObservedBatch
from eddyline.capacity.calibrate import calibrate as calibrate
from eddyline.capacity.estimate import Estimate as Estimate
from eddyline.capacity.estimate import estimate as estimate
from eddyline.capacity.limits import Limit as Limit
from eddyline.capacity.load import Load as Load
from eddyline.capacity.rates import Grid as Grid
from eddyline.capacity.rates import Rates as Rates
from eddyline.capacity.sizing import Sizing as Sizing
from eddyline.capacity.sizing import size as size
