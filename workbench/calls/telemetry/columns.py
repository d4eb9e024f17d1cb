"""Gathered columns as columns of a DataFrame, without a Python object for every cell."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from workbench import model
from workbench.readers.records import NO_TIME, Records

if TYPE_CHECKING:
    import pandas as pd


class Columns:
    """Makes pandas columns of the arrays of `Records`."""

    def __init__(self, records: Records) -> None:
        self._pool = records.pool
        self.text = records.pool.text

    @cached_property
    def _texts(self) -> Any:
        import pyarrow as pa

        return pa.array(list(self._pool.values), type=pa.large_string())

    def coded(self, codes: array[int], words: Sequence[str] | None = None) -> pd.Series[Any]:
        """Texts by their codes in the pool, or in `words`; -1 and empty words are missing."""
        import numpy as np
        import pyarrow as pa

        numbers = np.frombuffer(codes, dtype=codes.typecode) if len(codes) else np.array([], dtype="int32")
        texts = self._texts
        missing = numbers < 0
        if words is not None:
            texts = pa.array([word or None for word in words], type=pa.large_string())
        return self._series(texts.take(pa.array(numbers, mask=missing)))

    def texts(self, values: Sequence[str | None]) -> pd.Series[Any]:
        """Texts as they are."""
        import pyarrow as pa

        try:
            return self._series(pa.array(values, type=pa.large_string()))
        except (pa.ArrowInvalid, UnicodeEncodeError):  # lone surrogates
            return model.column_of(values, model.PANDAS_DTYPES["text"])

    def _series(self, texts: Any) -> pd.Series[Any]:
        import pandas as pd

        dtype: Any = pd.Series([], dtype=model.PANDAS_DTYPES["text"]).dtype
        made: pd.Series[Any] = texts.to_pandas(types_mapper={texts.type: dtype}.get)
        return made

    def numbers(self, values: array[int], missing_below: int = -(2**63)) -> pd.Series[Any]:
        """Whole numbers; those below a bound are missing."""
        import numpy as np
        import pandas as pd

        held = (
            np.frombuffer(values, dtype=values.typecode).astype("int64")
            if len(values)
            else np.array([], "int64")
        )
        return pd.Series(pd.arrays.IntegerArray(held, held < missing_below))

    def times(self, values: array[int]) -> pd.Series[Any]:
        """UTC nanoseconds; NO_TIME, which is pandas' own mark for no time, is missing."""
        import numpy as np
        import pandas as pd

        # both are the smallest number of 64 bits
        held = np.frombuffer(values, dtype="int64") if len(values) else np.array([], "int64")
        return pd.Series(held.astype("datetime64[ns]")).dt.tz_localize("UTC")

    def milliseconds(self, starts: array[int], ends: array[int]) -> pd.Series[Any]:
        """Lengths of time; missing where start or end is."""
        import numpy as np
        import pandas as pd

        if not len(starts):
            return pd.Series([], dtype="float64")
        start, end = (np.frombuffer(column, dtype="int64") for column in (starts, ends))
        length = (end - start) / 1e6
        length[(start == NO_TIME) | (end == NO_TIME)] = np.nan
        return pd.Series(length)
