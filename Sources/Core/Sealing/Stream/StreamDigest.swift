internal import CryptoPrimitives
internal import Synchronization

/// The digest of a stream's contents, which a record contains to vouch for them (`docs/spec/format.md`, section 6).
///
/// It covers neither header nor key, so that a rotation can reseal the stream and the record without their writer.
package struct StreamDigest: Hashable, Sendable {
    /// The size of the contents in bytes, without the list of chunk hashes.
    package let contentsSize: UInt64
    /// The hash of that size and of the list.
    package let listHash: Bytes32

    package init(contentsSize: UInt64, listHash: Bytes32) {
        self.contentsSize = contentsSize
        self.listHash = listHash
    }

    /// The offset of the list, after the contents, in the plaintext.
    ///
    /// The size is clamped to a value above every stream's size, so that sums cannot overflow.
    var listOffset: Int { Int(min(contentsSize, 1 << 62)) }

    /// The size of the whole plaintext: contents and list.
    var plaintextSize: Int {
        let chunks = (listOffset + BlobLayout.chunkSize - 1) / BlobLayout.chunkSize
        return listOffset + chunks * ChunkHashList.hashSize
    }

    /// Throws if the size violates rule D1.
    func requireSize(_ size: Int) throws(SealingError) {
        guard size == plaintextSize else {
            throw SealingError(
                .tampered, "open",
                "\(size) bytes of plaintext are less than the \(contentsSize) bytes that a record vouches for.")
        }
    }

    /// Throws if the list violates rule D2.
    func require(_ list: ChunkHashList) throws(SealingError) {
        guard list.digest(contentsSize: contentsSize) == self else {
            throw SealingError(.tampered, "open", "The list of chunk hashes is not the one that a record vouches for.")
        }
    }

    /// Returns the error for a violation of rule D3.
    static func refusal(ofChunk index: Int) -> SealingError {
        SealingError(.tampered, "open", "Chunk \(index) is not the one that a record vouches for.")
    }
}

/// The hashes of the chunks of a stream's contents, with 32 bytes of memory for each 65,536 bytes.
final class ChunkHashList: Sendable {
    /// The size of one hash in bytes.
    static let hashSize = 32
    /// The number of bytes before the list in the digest's input, which contain the size of the contents.
    private static let prefixSize = 8

    /// The input of the digest: room for the size of the contents, then the list.
    private let input = Mutex([UInt8](repeating: 0, count: prefixSize))

    /// Adds the hashes of contents that begin with a chunk. Several threads may add theirs in any order.
    func add(_ contents: UnsafeRawBufferPointer, firstChunk: Int) {
        for start in stride(from: 0, to: contents.count, by: BlobLayout.chunkSize) {
            let end = min(start + BlobLayout.chunkSize, contents.count)
            let hash = Self.hash(UnsafeRawBufferPointer(rebasing: contents[start..<end]))
            let place = Self.place(of: firstChunk + start / BlobLayout.chunkSize)
            input.withLock { input in
                let missing = place + Self.hashSize - input.count
                if missing > 0 { input.append(contentsOf: repeatElement(0, count: missing)) }
                hash.withUnsafeBytes { input.replaceSubrange(place..<place + Self.hashSize, with: $0) }
            }
        }
    }

    /// Appends bytes of a list from the stream.
    func append(_ bytes: UnsafeRawBufferPointer) { input.withLock { $0.append(contentsOf: bytes) } }

    /// Overwrites the added hashes with bytes of a list from the stream.
    ///
    /// - Returns: The first chunk whose hash changes, or `nil` if none does.
    func replace(at offset: Int, with bytes: UnsafeRawBufferPointer) -> Int? {
        input.withLock { input in
            let start = Self.prefixSize + offset
            let differing = bytes.indices.first { input[start + $0] != bytes[$0] }
            input.replaceSubrange(start..<start + bytes.count, with: bytes)
            return differing.map { (offset + $0) / Self.hashSize }
        }
    }

    /// Copies the available bytes of the list into the buffer and returns their number.
    func copy(from offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        input.withLock { input in
            let start = Self.prefixSize + offset
            let count = min(buffer.count, input.count - start)
            buffer.copyBytes(from: input[start..<start + count])
            return count
        }
    }

    /// Returns whether the list contains the hash of a chunk's contents at its index.
    func contains(_ contents: UnsafeRawBufferPointer, at index: Int) -> Bool {
        let hash = Self.hash(contents)
        let place = Self.place(of: index)
        return input.withLock { input in
            hash.withUnsafeBytes { $0.elementsEqual(input[place..<place + Self.hashSize]) }
        }
    }

    /// Returns the digest of contents of that size with this list.
    func digest(contentsSize: UInt64) -> StreamDigest {
        input.withLock { input in
            withUnsafeBytes(of: contentsSize.littleEndian) { input.replaceSubrange(0..<Self.prefixSize, with: $0) }
            let hash = Bytes32(filling: { output in
                input.withUnsafeBytes { BLAKE2b.hash($0, personalization: .streamDigest, into: output) }
            })
            return StreamDigest(contentsSize: contentsSize, listHash: hash)
        }
    }

    private static func hash(_ contents: UnsafeRawBufferPointer) -> Bytes32 {
        Bytes32(filling: { BLAKE2b.hash(contents, personalization: .streamChunk, into: $0) })
    }

    private static func place(of index: Int) -> Int { prefixSize + index * hashSize }
}
