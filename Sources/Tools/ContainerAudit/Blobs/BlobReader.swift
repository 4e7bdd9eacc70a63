internal import CryptoPrimitives
internal import KeyVault
internal import SealedState
internal import Sealing
internal import SharedFiles

/// A blob that was opened to its end: its header, and what its contents say against it.
struct OpenedContents: Sendable {
    let header: VerifiedHeader
    /// Empty for contents that are too large for their readers, which is said elsewhere.
    let remarks: [PayloadRemark]
    /// What the group's roster says of it.
    var authorisation = Authorisation.notGoverned
}

/// Opens a whole blob to its end, looks at a record's contents, and lets go of the plaintext at once.
struct BlobReader<Keys: SealingKeySource>: Sendable {
    let root: Directory
    let keys: Keys
    let limits: AuditLimits
    let judge: PayloadJudge
    /// The record's name, and the store whose roster governs it; nil for a blob that none governs.
    var governed: (name: String, store: SealedStore)?

    /// Verifies header and contents. Small blobs are read whole, larger ones in constant memory.
    ///
    /// - Throws: `FileError` when the file cannot be read.
    func open(_ path: String, context: BlobContext?) throws(FileError) -> Result<OpenedContents, SealingError> {
        let limit = BlobLayout.blobSize(plaintextSize: limits.maximumRecordSize)
        do throws(FileError) {
            return openWhole(try root.read(path, limit: limit + BlobOpener.signedAllowance), context, limit)
        } catch {
            guard error.code == .tooLarge else { throw error }
            return try openStreaming(path, context)
        }
    }

    private func openWhole(
        _ blob: [UInt8], _ context: BlobContext?, _ limit: Int
    ) -> Result<OpenedContents, SealingError> {
        do throws(SealingError) {
            return .success(
                try blob.span.withUnsafeBytes { blob throws(SealingError) in
                    let opened = try BlobOpener.open(blob, context: context, keys: keys, limit: limit)
                    let header = opened.header
                    let authorisation = governed.map { $0.store.authorisation(of: opened, named: $0.name) }
                    return opened.plaintext.withUnsafeBytes { plaintext in
                        OpenedContents(
                            header: header, remarks: judge.remarks(on: plaintext, header.header),
                            authorisation: authorisation ?? .notGoverned)
                    }
                })
        } catch {
            return .failure(error)
        }
    }

    private func openStreaming(
        _ path: String, _ context: BlobContext?
    ) throws(FileError) -> Result<OpenedContents, SealingError> {
        let source = FileSource(try root.openForReading(path))
        do throws(StreamFailure<FileError>) {
            let read: StreamSource<FileError> = { buffer throws(FileError) in try source.read(into: buffer) }
            let header = try StreamOpener.verify(from: read, context: context, keys: keys)
            return .success(OpenedContents(header: header, remarks: []))
        } catch {
            switch error {
            case .sealing(let refusal): return .failure(refusal)
            case .input(let failure), .output(let failure): throw failure
            }
        }
    }
}

/// An open file that several threads take turns to read.
private final class FileSource: Sendable {
    private let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int { try descriptor.read(into: buffer) }
}
