internal import CryptoPrimitives
internal import Sealing
internal import SharedFiles

extension BlobDescription {
    /// Creates the description of the same blob under another key. All fields that readers use stay: of two blobs of
    /// one sequence the later epoch is ahead, so the new one is ordered after the old one and before the next write;
    /// its times determine its validity, and resealing does not renew it.
    init(resealing header: BlobHeader, as context: BlobContext) {
        self.init(
            record: context, flags: header.flags, schemaVersion: header.schemaVersion, sequence: header.sequence,
            sealedAt: header.sealedAt, notAfter: header.notAfter, codec: header.codec)
        // The signature ends the plaintext and covers no field that changes.
        writer = header.writer
    }
}

/// An opened sealed file to be resealed: its header and its length are authentic.
struct OldBlob: Sendable {
    private static let operation = "reseal"

    let path: String
    let header: VerifiedHeader
    let reader: StreamRangeReader<FileError>

    /// - Parameter digest: The digest of the contents, if they have one.
    /// - Throws: `StoreError`, as a reader would throw it.
    init(
        _ file: OpenedBlob, context: BlobContext, keys: some SealingKeySource, digest: StreamDigest? = nil
    ) throws(StoreError) {
        do throws(StreamFailure<FileError>) {
            reader = try StreamRangeReader(
                blobSize: file.size, context: context, keys: keys, digest: digest
            ) { offset, buffer throws(FileError) in try file.read(at: offset, into: buffer) }
        } catch {
            throw Self.refusal(error, file.path)
        }
        path = file.path
        header = reader.header
    }

    /// Opens a blob in memory.
    init(_ blob: [UInt8], at path: String, context: BlobContext, keys: some SealingKeySource) throws(StoreError) {
        do throws(StreamFailure<FileError>) {
            reader = try StreamRangeReader(blobSize: blob.count, context: context, keys: keys) {
                offset, buffer throws(FileError) in
                blob.withUnsafeBytes { blob in
                    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: blob[offset..<offset + buffer.count]))
                }
            }
        } catch {
            throw Self.refusal(error, path)
        }
        self.path = path
        header = reader.header
    }

    /// Returns the same contents under another key, in memory.
    func sealed(as description: BlobDescription, key: SealingKey) throws(StoreError) -> [UInt8] {
        var plaintext = PlaintextBuffer(count: reader.plaintextSize)
        try plaintext.withUnsafeMutableBytes { bytes throws(StoreError) in _ = try read(from: 0, into: bytes) }
        return plaintext.withUnsafeBytes { BlobSealer.sealWhole($0, as: description, key: key).bytes }
    }

    /// Copies plaintext from a position, as much as exists and fits; every byte is authentic.
    func read(from position: Int, into buffer: UnsafeMutableRawBufferPointer) throws(StoreError) -> Int {
        let count = min(buffer.count, reader.plaintextSize - position)
        guard count > 0 else { return 0 }
        var bytes: [UInt8]
        do throws(StreamFailure<FileError>) { bytes = try reader.read(position..<position + count) } catch {
            throw Self.refusal(error, path)
        }
        bytes.withUnsafeMutableBytes { bytes in
            buffer.copyMemory(from: UnsafeRawBufferPointer(bytes))
            ScratchMemory.wipe(bytes)
        }
        return count
    }

    private static func refusal(_ failure: StreamFailure<FileError>, _ path: String) -> StoreError {
        switch failure {
        case .sealing(let error): StoreError(error, operation, path)
        case .input(let error), .output(let error): StoreError(error, operation, path)
        }
    }
}
