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
    let contents: EntryContents
    let keys: Keys
    let limits: AuditLimits
    let judge: PayloadJudge
    /// The record's name, and the store whose roster governs it, or `nil` for a blob without a roster.
    var governed: (name: String, store: SealedStore)?

    /// Verifies header and contents. Small blobs are read whole, larger ones in constant memory.
    ///
    /// - Throws: `FileError` if the entry cannot be read.
    func open(
        _ entry: ContainerEntry, context: BlobContext?
    ) throws(FileError) -> Result<OpenedContents, SealingError> {
        let limit = BlobLayout.blobSize(plaintextSize: limits.maximumRecordSize)
        do throws(FileError) {
            let blob = try contents.read(entry, limit: limit + BlobOpener.signedAllowance)
            return openWhole(blob, context, limit)
        } catch {
            guard error.code == .tooLarge else { throw error }
            return try openStreaming(entry, context)
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
        _ entry: ContainerEntry, _ context: BlobContext?
    ) throws(FileError) -> Result<OpenedContents, SealingError> {
        let read = try contents.stream(of: entry)
        do throws(StreamFailure<FileError>) {
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
