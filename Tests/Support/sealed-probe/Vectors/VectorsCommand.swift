internal import Glibc

/// `vectors DIRECTORY`: writes DIRECTORY/blobs/NAME.seal and NAME.json for every vector of the blob format and removes
/// what an earlier run left there. Keys and salts are fixed, so every run gives the same bytes.
func vectorsCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 1 else { return 64 }
    let directory = arguments[0] + "/blobs"
    mkdir(arguments[0], 0o777)
    mkdir(directory, 0o777)
    let vectors = goodVectors() + headerFaults() + contentFaults()
    guard Set(vectors.map(\.name)).count == vectors.count else {
        say("two vectors have one name")
        return 70
    }
    let wanted = Set(vectors.flatMap { ["\($0.name).seal", "\($0.name).json"] })
    for name in fileNames(directory) where !wanted.contains(name) { unlink("\(directory)/\(name)") }
    for vector in vectors {
        guard write(vector.blob, to: "\(directory)/\(vector.name).seal"),
            write(Array(vector.json.utf8), to: "\(directory)/\(vector.name).json")
        else {
            say("\(directory)/\(vector.name): \(String(cString: strerror(errno)))")
            return 74
        }
    }
    say("\(vectors.count) vectors in \(directory)")
    return 0
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
