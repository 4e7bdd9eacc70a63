#!/usr/bin/env python3
"""Makes every section of the manifest but `blob`, the same bytes every time: python3 make_vectors.py FOLDER

It replaces those sections in FOLDER/manifest.json, writes the files that they name, and removes files of earlier runs. `make vectors` calls it
after `sealed-probe vectors`, which makes the section `blob`.
"""
import hashlib
import json
import pathlib
import sys

import backup_vectors
import channel_vectors
import memory_vectors
import stream_vectors
import vault_edges
import vault_vectors
import writer_vectors
from sections import SECTIONS


class Collector:
    """The files and entries of all sections. Equal files of a section are one file, with the name of the first."""

    def __init__(self, folder):
        self.folder, self.sections, self.written = pathlib.Path(folder), {name: [] for name in SECTIONS}, {}

    def file(self, section, leaf, data):
        """Writes a file: its place, size and hash."""
        digest = hashlib.sha256(data).hexdigest()
        path = self.written.get((section, digest))
        if path is None:
            path = self.written[section, digest] = f"{section}/{leaf}"
            (self.folder / section).mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_bytes(data)
        return {"file": path, "size": len(data), "sha256": digest}

    def files(self, section, name, files, modes):
        """The same for a vector of several files: {path: data}."""
        return [{"path": path} | self.file(section, name + "." + pathlib.Path(path).name, data) | ({"mode": modes[path]} if path in modes else {})
                for path, data in sorted(files.items()) if not path.startswith(".")]

    def add(self, section, vector):
        assert all(v["name"] != vector["name"] for v in self.sections[section]), vector["name"]
        self.sections[section].append(vector)

    def finish(self):
        kept = {path for path in self.written.values()}
        for section in self.sections:
            for path in (self.folder / section).glob("*"):
                if f"{section}/{path.name}" not in kept:
                    path.unlink()
        path = self.folder / "manifest.json"
        manifest = json.loads(path.read_text(encoding="utf-8"))
        manifest["sections"] = {"blob": manifest["sections"]["blob"]} | {n: v for n, v in self.sections.items() if v}
        path.write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(folder):
    collector = Collector(folder)
    vault_edges.make(vault_vectors.make(collector))
    for module in (backup_vectors, memory_vectors, writer_vectors, stream_vectors, channel_vectors):
        module.make(collector)
    collector.finish()
    counts = ", ".join(f"{name} {len(vectors)}" for name, vectors in collector.sections.items())
    print(f"{sum(len(v) for v in collector.sections.values())} vectors in {folder}: {counts}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
