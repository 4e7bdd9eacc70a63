internal import Sealing
internal import SharedFiles
internal import Synchronization

/// A blob's file while it is written: it gets its name whole, or leaves no file behind.
final class NewBlob: Sendable {
    private enum Place: ~Copyable {
        case writing(NewFile)
        case finished
    }

    private let place: Mutex<Place>
    private let position = Mutex(0)
    private let path: String

    /// - Parameters:
    ///   - size: The size of the whole blob, reserved at once: a full disk is detected before anything is written.
    ///   - mode: Exact permission bits.
    ///   - group: The unix group; nil for the directory's default. It is not set on a file that already has it, which
    ///     requires no right to the group.
    init(_ path: String, in root: Directory, size: Int64, mode: UInt32, group: UInt32?) throws(FileError) {
        let slash = path.lastIndex(of: "/")
        let parent = if let slash { try root.directory(String(path[..<slash])) } else { root }
        let leaf = slash.map { String(path[path.index(after: $0)...]) } ?? path
        let file = try Self.create(in: parent, leaf, mode: mode, group: group)
        try file.reserve(size)
        place = Mutex(.writing(file))
        self.path = path
    }

    private static func create(
        in parent: Directory, _ leaf: String, mode: UInt32, group: UInt32?
    ) throws(FileError) -> NewFile {
        let file = try NewFile.create(in: parent, leaf: leaf, mode: mode)
        guard let group, try file.descriptor.attributes().gid != group else { return file }
        return try NewFile.create(in: parent, leaf: leaf, mode: mode, group: group)
    }

    /// Seals the contents of the old blob, in constant memory.
    ///
    /// - Parameter throttle: Waits between pieces; with `isLocked` it only checks for cancellation.
    func seal(
        _ old: OldBlob, as description: BlobDescription, key: SealingKey, _ throttle: Throttle, isLocked: Bool
    ) throws(StoreError) {
        let source: StreamSource<StoreError> = { [self] buffer throws(StoreError) in
            try take(from: old, into: buffer, throttle, isLocked)
        }
        let sink: StreamSink<StoreError> = { [self] bytes throws(StoreError) in
            try StoreError.onFiles("reseal", path) { () throws(FileError) in try append(bytes) }
        }
        // A second thread costs more than sealing a small blob.
        let workers = old.reader.plaintextSize > 1 << 20 ? StreamWorkers.all : 1
        do throws(StreamFailure<StoreError>) {
            try StreamSealer.seal(from: source, to: sink, as: description, key: key, workers: workers)
        } catch {
            switch error {
            case .sealing(let error): throw StoreError(error, "reseal", path)
            case .input(let error), .output(let error): throw error
            }
        }
    }

    private func take(
        from old: OldBlob, into buffer: UnsafeMutableRawBufferPointer, _ throttle: Throttle, _ isLocked: Bool
    ) throws(StoreError) -> Int {
        // One reader at a time, as a stream's source always is.
        let start = position.withLock { $0 }
        let count = try old.read(from: start, into: buffer)
        if isLocked { try throttle.requireGoingOn() } else { try throttle.take(bytes: count) }
        position.withLock { $0 = start + count }
        return count
    }

    /// Appends bytes to the blob.
    func append(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        try onFile { file throws(FileError) in try file.write(bytes) }
    }

    /// Gives up the reserved space behind the blob: its source had fewer bytes than it stated.
    func cut(to size: Int) throws(FileError) {
        try onFile { file throws(FileError) in try file.cut(to: Int64(size)) }
    }

    private func onFile(_ body: (borrowing NewFile) throws(FileError) -> Void) throws(FileError) {
        let result = place.withLock { place -> Result<Void, FileError> in
            do throws(FileError) {
                switch place {
                case .writing(let file): try body(file)
                case .finished: break
                }
                return .success(())
            } catch { return .failure(error) }
        }
        try result.get()
    }

    /// Gives the new blob its name.
    ///
    /// - Parameter isReplacing: Pass `false` for a name that must be free.
    func commit(replacing isReplacing: Bool = true, durability: Durability) throws(FileError) {
        let result = place.withLock { place -> Result<Void, FileError> in
            var last = Place.finished
            swap(&place, &last)
            return Self.finish(last, isReplacing, durability)
        }
        try result.get()
    }

    private static func finish(
        _ place: consuming Place, _ isReplacing: Bool, _ durability: Durability
    ) -> Result<Void, FileError> {
        do throws(FileError) {
            switch consume place {
            case .writing(let file): try file.commit(replacing: isReplacing, durability: durability)
            case .finished: break
            }
            return .success(())
        } catch { return .failure(error) }
    }
}
