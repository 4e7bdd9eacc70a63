internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// Contents that have their name and no manifest yet. While this value lives, no sweep removes them.
final class LinkedContent: Sendable {
    let id: ContentID
    let digest: StreamDigest
    let key: SealingKey
    private let context: BlobContext
    private let root: Directory
    private let lock: HeldLock

    init(
        id: ContentID, digest: StreamDigest, key: SealingKey, context: BlobContext, root: Directory,
        lock: consuming HeldLock
    ) {
        (self.id, self.digest, self.key) = (id, digest, key)
        (self.context, self.root) = (context, root)
        self.lock = lock
    }

    /// Returns `true` if the contents are in the container of a store.
    func isStored(in store: SealedStore) -> Bool {
        guard let here = try? store.container.root.attributes("."), let there = try? root.attributes("."),
            here.isSameFile(as: there)
        else { return false }
        return (try? root.exists(id.path)) ?? false
    }

    /// Returns the size of the contents, and a source of them, to be sealed again. Their key may have been retired
    /// since; a rotation may have sealed them under another one.
    func plaintext(_ keys: RecordKeys) throws(StoreError) -> (Int, StreamSource<StoreError>) {
        let (file, head) = try StoreError.onFiles("write", id.path) { () throws(FileError) in
            let file = try OpenedBlob(id.path, in: root)
            return (file, try file.head())
        }
        let isOwn = (try? UnverifiedHeader(parsing: head).claimed.keyID) == key.id
        let keys: any SealingKeySource = isOwn ? key : try keys.keyring(toOpen: head, "write", id.path)
        let old = try OldBlob(file, context: context, keys: keys, digest: digest)
        let position = ByteCount()
        return (
            old.reader.plaintextSize,
            { buffer throws(StoreError) in
                let count = try old.read(from: position.value, into: buffer)
                position.add(count)
                return count
            }
        )
    }
}

/// The new contents of a file, and the result of sealing them.
final class NewContents {
    /// The number of bytes, if it is known.
    let size: Int?
    var linked: LinkedContent?
    private let source: () -> StreamSource<StoreError>
    /// The bytes can be read once.
    let isReadOnce: Bool
    /// The bytes that were read.
    private let taken = ByteCount()

    init(size: Int?, read: @escaping StreamSource<StoreError>) {
        self.size = size
        (source, isReadOnce) = ({ read }, true)
    }

    /// Creates contents in memory.
    init(_ bytes: some ContiguousBytes & Sendable) {
        size = bytes.withUnsafeBytes(\.count)
        isReadOnce = false
        source = {
            let position = ByteCount()
            return { buffer throws(StoreError) in
                let start = position.value
                let count = bytes.withUnsafeBytes { bytes in
                    let part = UnsafeRawBufferPointer(rebasing: bytes[start..<min(start + buffer.count, bytes.count)])
                    buffer.copyMemory(from: part)
                    return part.count
                }
                position.add(count)
                return count
            }
        }
    }

    /// Returns the bytes from the first one on.
    ///
    /// - Throws: `StoreError` `.containerMissing` if bytes that can be read once were read for a container that was
    ///   replaced meanwhile.
    func begin(_ name: String) throws(StoreError) -> StreamSource<StoreError> {
        guard taken.value == 0 || !isReadOnce else {
            throw StoreError(
                .containerMissing, "write", name, "The container was replaced while the new contents were read.",
                advice: "Write it again, with contents from the first byte; nothing was written.")
        }
        let read = source()
        return { [taken] buffer throws(StoreError) in
            let count = try read(buffer)
            taken.add(count)
            return count
        }
    }

    /// Creates contents from the rest of an open file, pipe or socket of the caller.
    convenience init(descriptor number: Int32, isCancelled: @escaping @Sendable () -> Bool = { false }) {
        let path = "descriptor \(number)"
        self.init(size: Self.rest(of: Descriptor(borrowing: number, path: path))) { buffer throws(StoreError) in
            if isCancelled() { throw StoreError(.cancelled, "read", path, "The task was cancelled.") }
            do throws(FileError) { return try Descriptor(borrowing: number, path: path).readSome(into: buffer) } catch {
                throw StoreError(
                    .file, "read", path, error.sentence, advice: error.advice, errno: error.errno, cause: error)
            }
        }
    }

    private static func rest(of file: borrowing Descriptor) -> Int? {
        guard let facts = try? file.attributes(), facts.kind == .regular else { return nil }
        let position = file.position
        return position < 0 ? nil : max(0, Int(facts.size - position))
    }
}

/// A count of bytes that one thread at a time increases.
final class ByteCount: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
    func add(_ bytes: Int) { count.add(bytes, ordering: .relaxed) }
}
