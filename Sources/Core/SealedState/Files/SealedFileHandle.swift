internal import AppGroups
internal import KeyVault
package import Sealing
package import SharedFiles
internal import Synchronization

/// An open version of a sealed file.
///
/// It keeps this version while other programs write others. Each chunk is compared with the manifest's digest
/// before any of its bytes are returned. It may be used from any thread.
public final class SealedFileHandle: Sendable {
    /// The file's name.
    public let name: String
    /// The manifest, and its origin.
    public let snapshot: RecordSnapshot<SealedFileManifest>

    /// The size of the contents in bytes.
    public var size: Int { snapshot.value.size }

    private let reader: StreamRangeReader<FileError>
    /// The size of a range from which on several threads read it.
    private static let parallelSize = 1 << 20

    /// Opens the contents that a manifest names, and verifies their header, their length and their list of hashes.
    ///
    /// - Parameter root: The directory with the contents; the store's container unless stated.
    /// - Throws: `StoreError`; `.missing` with a cause of `.notFound` if the container has no such contents.
    init(
        _ name: SealedFileName, _ snapshot: RecordSnapshot<SealedFileManifest>, in store: SealedStore,
        from root: Directory? = nil
    ) throws(StoreError) {
        guard let id = snapshot.value.id, let digest = snapshot.value.streamDigest else {
            throw StoreError(.invalid, "read", name.name, "Its manifest names no contents.")
        }
        let (file, head) = try Self.contents(id.path, of: name.name, in: root ?? store.container.root)
        let context = id.context(of: name, in: store.group)
        let keys = try Self.keys(toOpen: head, context, name.name, store)
        do throws(StreamFailure<FileError>) {
            reader = try StreamRangeReader(blobSize: file.size, context: context, keys: keys, digest: digest) {
                offset, buffer throws(FileError) in try file.read(at: offset, into: buffer)
            }
        } catch { throw Self.refusal(error, name.name) }
        self.name = name.name
        self.snapshot = snapshot
    }

    private static func contents(
        _ path: String, of name: String, in root: Directory
    ) throws(StoreError) -> (OpenedBlob, [UInt8]) {
        do throws(FileError) {
            let file = try OpenedBlob(path, in: root)
            return (file, try file.head())
        } catch {
            guard error.code == .notFound else { throw StoreError(error, "read", name) }
            throw StoreError(
                .missing, "read", name, "Its manifest is valid, and the container has no \(path).",
                advice: "Find out what removed it; write the file again, or restore the container from a backup.",
                cause: error)
        }
    }

    /// Returns the keys that open a header: another program may have rotated, and then the vault is read once more.
    private static func keys(
        toOpen head: [UInt8], _ context: BlobContext, _ name: String, _ store: SealedStore
    ) throws(StoreError) -> Keyring {
        func verify(_ keys: Keyring) throws(SealingError) -> Keyring {
            _ = try head.withRawBytes { head throws(SealingError) in
                try BlobOpener.verifyHeader(head, context: context, keys: keys)
            }
            return keys
        }
        do throws(SealingError) { return try verify(store.vault.recentKeyring()) } catch {
            guard error.code == .unknownKey || error.code == .wrongEpoch else { throw StoreError(error, "read", name) }
        }
        let keys = try store.reader.keys.keyring(toOpen: head, "read", name)
        do throws(SealingError) { return try verify(keys) } catch {
            throw store.reader.keys.destroyedKey(of: head, "read", name) ?? StoreError(error, "read", name)
        }
    }

    private static func refusal(_ failure: StreamFailure<FileError>, _ name: String) -> StoreError {
        switch failure {
        case .sealing(let error) where error.code == .invalidArgument:
            StoreError(.invalidRange, "read", name, error.detail)
        case .sealing(let error): StoreError(error, "read", name)
        case .input(let error), .output(let error): StoreError(error, "read", name)
        }
    }
}

extension SealedFileHandle {
    /// Returns the bytes of a range. A range that ends behind the contents is never shortened.
    ///
    /// - Throws: `StoreError`: `.invalidRange` for a range outside the contents; `.tampered`; `.file`.
    public func read(_ range: Range<Int>) throws(StoreError) -> [UInt8] {
        do throws(StreamFailure<FileError>) {
            try reader.requireContents(range)
            if range.count < Self.parallelSize { return try reader.read(range) }
            let bytes = Mutex<[UInt8]>([])
            bytes.withLock { $0.reserveCapacity(range.count) }
            try reader.read(range) { piece throws(FileError) in bytes.withLock { $0.append(contentsOf: piece) } }
            return bytes.withLock { $0 }
        } catch { throw Self.refusal(error, name) }
    }

    /// Returns all contents.
    ///
    /// - Parameter limit: The largest size in bytes that is read; 1 GiB unless stated.
    /// - Throws: `StoreError`: `.tooLarge`; `.tampered`; `.file`.
    public func read(upTo limit: Int = 1 << 30) throws(StoreError) -> [UInt8] {
        guard size <= limit else {
            throw StoreError(
                .tooLarge, "read", name, "It has \(size) bytes; the limit of this call is \(limit).",
                advice: "Read it in parts, or state a higher limit.")
        }
        return try read(0..<size)
    }

    /// Writes a range of the contents to an open file, pipe or socket, in constant memory.
    ///
    /// If this throws, the bytes that were written are authentic, and the rest is missing.
    /// - Parameters:
    ///   - descriptor: The open file; it stays open.
    ///   - range: The range; all contents unless stated.
    /// - Throws: `StoreError`: `.invalidRange`; `.tampered`; `.file`, `.noSpace` for the output.
    public func copy(toDescriptor descriptor: Int32, _ range: Range<Int>? = nil) throws(StoreError) {
        let output = Descriptor(borrowing: descriptor, path: "descriptor \(descriptor)")
        try copy(range) { bytes throws(FileError) in try output.write(bytes) }
    }

    /// Passes on a range of the contents in order.
    package func copy(_ range: Range<Int>? = nil, to sink: StreamSink<FileError>) throws(StoreError) {
        let range = range ?? 0..<size
        do throws(StreamFailure<FileError>) {
            try reader.requireContents(range)
            let workers = range.count < Self.parallelSize ? 1 : StreamWorkers.all
            try reader.read(range, workers: workers, to: sink)
        } catch { throw Self.refusal(error, name) }
    }

    /// Returns the bytes of a range; see the form without `async`.
    public func read(_ range: Range<Int>) async throws(StoreError) -> [UInt8] {
        try await SealedStore.offload { (_) throws(StoreError) in try self.read(range) }
    }

    /// Returns all contents; see the form without `async`.
    public func read(upTo limit: Int = 1 << 30) async throws(StoreError) -> [UInt8] {
        try await SealedStore.offload { (_) throws(StoreError) in try self.read(upTo: limit) }
    }

    /// The contents in order, in pieces of at most 1 MiB, each verified before it is returned.
    ///
    /// Damage further on is an error in the middle: only an iteration that ends with nil has returned everything.
    public var pieces: SealedFileHandle.Pieces { SealedFileHandle.Pieces(handle: self) }
}

extension SealedFileHandle {
    /// The contents of an open sealed file in order.
    public struct Pieces: AsyncSequence, Sendable {
        /// A piece: at least one byte, at most 1 MiB.
        public typealias Element = [UInt8]
        /// The reason why the next piece is refused or cannot be read.
        public typealias Failure = StoreError

        private static let pieceSize = 1 << 20
        private let handle: SealedFileHandle

        init(handle: SealedFileHandle) { self.handle = handle }

        /// Creates an iterator that begins at the first byte.
        public func makeAsyncIterator() -> Iterator { Iterator(handle: handle) }

        /// An iterator from one piece to the next.
        public struct Iterator: AsyncIteratorProtocol {
            private let handle: SealedFileHandle
            private var position = 0

            init(handle: SealedFileHandle) { self.handle = handle }

            /// Returns the next piece; nil at the end.
            public mutating func next() async throws(StoreError) -> [UInt8]? { try await next(isolation: nil) }

            /// Returns the next piece; nil at the end. Files are never read on the caller's actor.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(StoreError) -> [UInt8]? {
                let end = Swift.min(position + Pieces.pieceSize, handle.size)
                guard position < end else { return nil }
                if Task.isCancelled { throw StoreError(.cancelled, "read", handle.name, "The task was cancelled.") }
                let piece = try await handle.read(position..<end)
                position = end
                return piece
            }
        }
    }
}
