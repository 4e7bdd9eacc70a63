internal import SharedFiles

/// A snapshot as a tar file: that of POSIX.1-2001 ("pax"), so that names may be long.
final class TarTarget: SnapshotTarget {
    private let output: OutputFile
    private let begun = FileTime.now
    /// Bytes of the file that is being written.
    private var size: Int64 = 0

    /// - Parameter place: Nil for standard output.
    init(_ place: SnapshotPlace?) throws(Failure) {
        output = try OutputFile(place?.argument ?? "-", mode: 0o600, replacing: false)
    }

    func addDirectory(_ path: String) throws(Failure) {
        try add(TarHeader(path: path + "/", size: 0, kind: .directory, modified: begun).blocks)
    }

    func beginFile(_ path: String, size: Int64, modified: FileTime) throws(Failure) {
        self.size = size
        try add(TarHeader(path: path, size: size, kind: .file, modified: modified).blocks)
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        do throws(FileError) { try output.write(bytes) } catch { throw Failure(error, .output) }
    }

    func endFile() throws(Failure) { try add(TarHeader.padding(after: size)) }

    func commit() throws(Failure) {
        try add([UInt8](repeating: 0, count: 2 * TarHeader.blockSize))
        try output.commit()
    }

    /// It has no name before `commit()`.
    func discard() {}
}
