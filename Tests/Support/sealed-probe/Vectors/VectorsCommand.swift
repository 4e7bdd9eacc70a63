internal import Glibc

/// `vectors DIRECTORY`: writes DIRECTORY/manifest.json and the files that it names, and removes blobs of an earlier
/// run. Keys and salts are fixed, so every run writes the same bytes.
///
/// `vectors DIRECTORY NAME`: writes the generated stream of that name as DIRECTORY/NAME.seal, and nothing else.
func vectorsCommand(arguments: [String]) -> Int32 {
    guard let directory = arguments.first, arguments.count <= 2 else { return 64 }
    if arguments.count == 2 { return writeGenerated(arguments[1], in: directory) }
    let vectors = goodVectors() + headerFaults() + contentFaults() + pairsOfFaults() + generatedStreams()
    guard Set(vectors.map(\.name)).count == vectors.count else {
        say("two vectors have one name")
        return 70
    }
    mkdir(directory, 0o777)
    mkdir(directory + "/blobs", 0o777)
    let files = vectors.filter { $0.recipe == nil }.map { ("blobs/\($0.name).seal", $0.blob) }
    removeStale(in: directory, except: Set(files.map(\.0)))
    let manifest = manifest([("blob", vectors.map(\.entry))])
    for (path, bytes) in files + [("manifest.json", Array(manifest.utf8))] {
        guard write(bytes, to: "\(directory)/\(path)") else {
            say("\(directory)/\(path): \(String(cString: strerror(errno)))")
            return 74
        }
    }
    say("\(vectors.count) vectors in \(directory)")
    return 0
}

/// Returns the manifest with its sections, in the form that `schema.json` describes.
private func manifest(_ sections: [(name: String, entries: [ManifestValue])]) -> String {
    ManifestValue.object([
        ("format", .text("sealedstate-vectors-1")), ("license", .text("0BSD")),
        ("sections", .object(sections.map { ($0.name, .list($0.entries)) })),
    ]).json() + "\n"
}

private func writeGenerated(_ name: String, in directory: String) -> Int32 {
    guard let vector = generatedStreams().first(where: { $0.name == name }) else {
        say("no generated vector has that name")
        return 64
    }
    return write(vector.blob, to: "\(directory)/\(name).seal") ? 0 : 74
}

private func removeStale(in directory: String, except wanted: Set<String>) {
    for name in fileNames(directory + "/blobs") where !wanted.contains("blobs/\(name)") {
        unlink("\(directory)/blobs/\(name)")
    }
}

private func fileNames(_ directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
        let start = UnsafeRawPointer(entry) + (MemoryLayout<dirent>.offset(of: \.d_name) ?? 19)
        let name = String(cString: start.assumingMemoryBound(to: CChar.self))
        if name.hasSuffix(".seal") || name.hasSuffix(".json") { names.append(name) }
    }
    return names
}

private func write(_ bytes: [UInt8], to path: String) -> Bool {
    guard let file = fopen(path, "w") else { return false }
    let written = fwrite(bytes, 1, bytes.count, file)
    return fclose(file) == 0 && written == bytes.count
}
