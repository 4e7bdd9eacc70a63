internal import CryptoPrimitives
internal import SharedFiles

/// Which record a file becomes, and what is done to its bytes first.
struct RecordPlan {
    let name: String
    var schemaVersion: UInt32 = 1
    /// The keys whose numbers are dates.
    var dates: Set<String> = []
    /// What opens it; nil for plaintext.
    var key: MovingInKey?

    /// A file's contents as the record has them.
    ///
    /// - Parameter notes: Gets what a person should know.
    func payload(
        of source: PlaintextSource, _ options: MovingInOptions, _ store: SealedStore, notes: inout [String]
    ) throws(StoreError) -> PlaintextBuffer {
        let contents = try source.read(limit: options.maximumFileSize)
        guard let key else { return withDates(contents, &notes) }
        return withDates(try Self.open(contents, with: key.bytes(from: store), source.name), &notes)
    }

    private func withDates(_ contents: consuming PlaintextBuffer, _ notes: inout [String]) -> PlaintextBuffer {
        let isJSON = contents.withUnsafeBytes { !$0.starts(with: "bplist".utf8) }
        guard !dates.isEmpty, isJSON else { return contents }
        return contents.withUnsafeBytes { json in
            let found = ReferenceDates(in: json, under: dates)
            let missing = dates.subtracting(found.found).sorted()
            if !missing.isEmpty {
                notes.append("No date stands as a number under \(missing.joined(separator: ", ").printable).")
            }
            return found.converted()
        }
    }

    private static func open(
        _ combined: borrowing PlaintextBuffer, with key: borrowing SecretBytes, _ source: String
    ) throws(StoreError) -> PlaintextBuffer {
        guard combined.count >= AES256GCM.overhead else {
            throw StoreError.malformed(source, "It has \(combined.count) bytes, less than a nonce and a tag.")
        }
        var plain = PlaintextBuffer(count: combined.count - AES256GCM.overhead)
        do throws(CryptoError) {
            try plain.withUnsafeMutableBytes { plain throws(CryptoError) in
                try combined.withUnsafeBytes { combined throws(CryptoError) in
                    try key.withUnsafeBytes { key throws(CryptoError) in
                        try AES256GCM.open(combined: combined, key: key, into: plain)
                    }
                }
            }
        } catch {
            throw StoreError(
                error.code == .unavailable ? .cipherUnavailable : .wrongKey, StoreError.movingIn, source.printable,
                error.code == .unavailable
                    ? "This processor has no instructions for AES-256-GCM." : "The key does not open it.", cause: error)
        }
        return plain
    }
}
