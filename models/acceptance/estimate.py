"""How likely a suggestion is right: an estimate fitted for one model, kept beside it as `acceptance.json`.

Logistic regression on what `fimlsp.models.acceptance.beginnings` tells of a text: whether all of it is right,
and whether its opening is, the first word or two. Who accepts a text word by word takes what is right of it
and loses nothing by the rest; a text whose opening is wrong was read for nothing. `fimlsp calibrate` fits
both on files whose true text is known.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fimlsp.models.acceptance.beginnings import Beginning
from fimlsp.models.acceptance.regression import Regression, numbers
from fimlsp.models.errors import ModelError

log = logging.getLogger(__name__)

FILE_NAME = "acceptance.json"
FORMAT = 5

LINE_WORTH = 10
"""What ending its line adds to the worth of a text, in characters: one need not look how the line goes on."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Of *number* texts that were estimated at *estimated* on average, the share *right* was right."""

    estimated: float
    right: float
    number: float


@dataclass(frozen=True, slots=True)
class Level:
    """How much is shown, and how much of that is right, if a wrong opening costs *cost* characters.

    Attributes:
        shown: the share of the cursors.
        right: what of it is right, at least, but for one chance in six.
        least_total: the log-probability that 99 of 100 texts which are shown have at least.
    """

    cost: float
    shown: float
    right: float
    least_total: float


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The estimate.

    Attributes:
        whole: how likely all of a text is right, by its features.
        opening: how likely an opening is right, by the features of that.
        cursors: how many cursors it was fitted at.
        beginnings: how many texts of theirs.
        curve: how well `whole` holds, on cursors that had no part in the fitting; for people.
        levels: what showing comes to at several costs, on such cursors.
    """

    whole: Regression
    opening: Regression
    cursors: int
    beginnings: int
    curve: tuple[CurvePoint, ...] = ()
    levels: tuple[Level, ...] = ()

    def cost(self, confidence: float) -> float:
        """What a wrong opening must cost so that of ten texts that are shown 10 * *confidence* are right.

        0 shows nearly everything. Where no cost is enough, infinity: nothing is shown.
        """
        level = self._level(confidence)
        return 0.0 if confidence <= 0 else math.inf if level is None else level.cost

    def least_total(self, confidence: float) -> float:
        """The log-probability below which hardly any text is shown, so that no more of it need be decoded."""
        level = self._level(confidence)
        return -math.inf if confidence <= 0 else math.inf if level is None else level.least_total

    def _level(self, confidence: float) -> Level | None:
        enough = [level for level in self.levels if level.right >= confidence]
        return min(enough, key=lambda level: level.cost, default=None)

    def worth(self, beginning: Beginning, cost: float) -> float:
        """What showing *beginning* is worth on average, in characters, if a wrong opening costs *cost*."""
        right = self.whole.probability(beginning.features)
        opens = right
        if beginning.opening is not None:
            opens = max(right, self.opening.probability(beginning.opening))
        gain = len(beginning.text.strip()) + LINE_WORTH * beginning.ends_line
        return right * gain - cost * (1 - opens) if opens < 1 else right * gain

    def best(self, beginnings: Iterable[Beginning], cost: float) -> Beginning | None:
        """The one of *beginnings* worth most if a wrong opening costs *cost*; None if none is worth it."""
        found, most = None, 0.0
        for each in beginnings:
            worth = self.worth(each, cost)
            if worth > most:
                found, most = each, worth
        return found

    def best_sound(
        self,
        beginnings: Sequence[Beginning],
        cost: float,
        has_fault: Callable[[bytes], bool],
        first_unknown_name: Callable[[bytes], int | None],
    ) -> Beginning | None:
        """As `best`, but one that does not *has_fault*, nor has an unknown name, whose offset is told.

        Only texts that would be shown are looked at.
        """
        while (best := self.best(beginnings, cost)) is not None:
            if has_fault(best.inserted):
                beginnings = [each for each in beginnings if each is not best]
            elif (unknown := first_unknown_name(best.inserted)) is not None:
                beginnings = [each for each in beginnings if len(each.text) <= unknown]
            else:
                break
        return best

    def save(self, folder: Path) -> Path:
        """Write it into the *folder* of its model; the file."""
        path = folder / FILE_NAME
        path.write_text(json.dumps({"format": FORMAT, **asdict(self)}, indent=1) + "\n", encoding="utf-8")
        return path

    @classmethod
    def load(cls, folder: Path) -> Acceptance | None:
        """That of the model in *folder*; None if it has none, or only one that an older fimlsp fitted.

        Raises:
            ModelError: the file is damaged, or of a newer version.
        """
        path = folder / FILE_NAME
        try:
            row = json.loads(path.read_text(encoding="utf-8"))
            if row["format"] in range(FORMAT):
                log.warning("%s is of an older fimlsp; make it anew with `fimlsp calibrate`.", path)
                return None
            return cls.from_json(row)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(
                f"{path} cannot be used ({error!r}); delete it or make it anew with `fimlsp calibrate`."
            ) from error

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Acceptance:
        """What `save` wrote.

        Raises:
            ValueError, KeyError, TypeError, AttributeError: it is damaged, or of another version.
        """
        if row["format"] != FORMAT:
            raise ValueError(f"format {row['format']}, not {FORMAT}")
        whole, opening = (Regression.from_json(row[name]) for name in ("whole", "opening"))
        curve = tuple(CurvePoint(**numbers(each)) for each in row["curve"])
        levels = tuple(Level(**numbers(each)) for each in row["levels"])
        return cls(whole, opening, int(row["cursors"]), int(row["beginnings"]), curve, levels)
