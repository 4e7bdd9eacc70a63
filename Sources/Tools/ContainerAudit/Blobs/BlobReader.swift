internal import CryptoPrimitives
internal import KeyVault
internal import SealedState
internal import Sealing
internal import SharedFiles

/// A fully opened blob: its header, and remarks on its contents.
struct OpenedContents: Sendable {
    let header: VerifiedHeader
    /// The remarks; empty for contents that exceed the readers' limit, which is a separate finding.
    let remarks: [PayloadRemark]
    /// The verdict of the group's roster.
    var authorisation = Authorisation.notGoverned
}

/// Opens a whole blob, examines a record's contents, and releases the plaintext immediately.
struct BlobReader<Keys: SealingKeySource>: Sendable {
    let root: Directory
    let keys: Keys
    let limits: AuditLimits
    let judge: PayloadJudge
    /// The record's name, and the store whose roster governs it, or `nil` for a blob without a roster.
    var governed: (name: String, store: SealedStore)?

    /// Verifies header and contents. Small blobs are read whole, larger ones in constant memory.
    ///
    /// - Throws: `FileError` if the file cannot be read.
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

/// An open file that several threads read in turn.
private final class FileSource: Sendable {
    private let descriptor: Descriptor

    init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int { try descriptor.read(into: buffer) }
}
