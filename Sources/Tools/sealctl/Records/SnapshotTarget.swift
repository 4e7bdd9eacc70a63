/// Where a snapshot goes: whole at the end, or not at all.
protocol SnapshotTarget: AnyObject {
    /// A directory, before everything in it.
    func addDirectory(_ path: String) throws(Failure)
    /// A file whose contents come next, in parts of that many bytes altogether.
    func beginFile(_ path: String, size: Int64, modified: FileTime) throws(Failure)
    func write(_ bytes: UnsafeRawBufferPointer) throws(Failure)
    func endFile() throws(Failure)
    /// Everything was added.
    func commit() throws(Failure)
    /// Takes back what was written.
    func discard()
}

extension SnapshotTarget {
    func addFile(_ path: String, _ bytes: [UInt8], modified: FileTime) throws(Failure) {
        try beginFile(path, size: Int64(bytes.count), modified: modified)
        try add(bytes)
        try endFile()
    }

    func add(_ bytes: [UInt8]) throws(Failure) {
        let result = bytes.withUnsafeBytes { buffer -> Result<Void, Failure> in
            do throws(Failure) { return .success(try write(buffer)) } catch { return .failure(error) }
        }
        try result.get()
    }
}
