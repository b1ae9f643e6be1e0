"""The child that reads one file: an open descriptor and what is wanted come in, frames go out."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import BinaryIO

from heatmaps.ingest.formats import csv_blocks, frames, parquet
from heatmaps.ingest.formats.batch import Batch
from heatmaps.ingest.formats.lines import ReaderError, ReaderLimits
from heatmaps.ingest.formats.preview import preview
from heatmaps.ingest.options import Options


def batches(stream: BinaryIO, options: Options, limits: ReaderLimits, batch_rows: int) -> Iterator[Batch]:
    """Of a Parquet file or of CSV. Errors: `ReaderError`."""
    read = parquet.batches if parquet.recognised(stream) else csv_blocks.batches
    return read(stream, options, limits, batch_rows)


def main() -> None:
    """Input: a line of JSON, as `heatmaps.ingest.formats.child_process` writes it."""
    wanted, out = json.loads(sys.stdin.buffer.readline()), sys.stdout.buffer
    limits = ReaderLimits(**wanted["limits"])
    with os.fdopen(wanted["descriptor"], "rb") as stream:
        stream.seek(0)
        try:
            if wanted["options"] is None:
                found = preview(stream, whole=wanted["whole"], limits=limits)
                frames.write_text(frames.PREVIEW, asdict(found), out)
            else:
                options = Options.from_json(wanted["options"])
                for batch in batches(stream, options, limits, wanted["batch_rows"]):
                    frames.write_batch(batch, out)
        except ReaderError as error:
            frames.write_text(frames.REFUSAL, {"code": error.code, "message": str(error)}, out)
        else:
            frames.write_text(frames.END, {}, out)
