"""Answers the request of a process that reads a file: a descriptor and options come in, frames go out."""

import gc
import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

from heatmaps.ingest.formats import frames
from heatmaps.ingest.formats.batch import Batch
from heatmaps.ingest.formats.lines import ReaderError, ReaderLimits
from heatmaps.ingest.options import Options


def write(batches: Callable[..., Iterator[Batch]], facts: Callable[..., dict[str, Any]]) -> None:
    """Reads a line of JSON, as `heatmaps.ingest.formats.child_process` writes it, and writes the answer.

    facts: what a request without options asks for.
    """
    gc.disable()  # nothing that is read has cycles, and looking for them takes a tenth of the time
    request, out = json.loads(sys.stdin.buffer.readline()), sys.stdout.buffer
    limits = ReaderLimits(**request["limits"])
    with os.fdopen(request["descriptor"], "rb") as stream:
        if stream.seekable():
            stream.seek(0)
        try:
            if request["options"] is None:
                frames.write_text(frames.FACTS, facts(stream, whole=request["whole"], limits=limits), out)
            else:
                options, rows = Options.from_json(request["options"]), request["batch_rows"]
                how = {name: request[name] for name in ("exact_numbers", "names_once")}
                for batch in batches(stream, options, limits, rows, **how):
                    frames.write_batch(batch, out)
        except ReaderError as error:
            frames.write_text(frames.REFUSAL, {"code": error.code, "message": str(error)}, out)
        else:
            frames.write_text(frames.END, {}, out)
