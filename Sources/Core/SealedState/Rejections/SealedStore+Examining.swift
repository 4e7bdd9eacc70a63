internal import CryptoPrimitives
internal import KeyVault
package import Sealing
internal import SharedFiles

extension SealedStore {
    /// Makes every check of a read that needs no type. Nothing is accepted, reported or kept.
    ///
    /// - Parameters:
    ///   - name: The record's name; also one of the library's own, such as `_sealed/leases/refresh`.
    ///   - contents: What a tool can say of a payload without its type; a rejection that it throws counts as the payload's.
    /// - Throws: `StoreError` where there is no blob to judge, such as `.absent`; a rejection, or `.locked`, is in the result.
    package func examine(
        _ name: String, contents: (UnsafeRawBufferPointer, PayloadCodec) throws(StoreError) -> Void
    ) throws(StoreError) -> ReadExamination {
        let place = try places.place(stored: name)
        let suites = DefaultsOptions()
        if DefaultsSuite(holding: place.name) != nil, options.maximumRecordSize < suites.maximumSize {
            return try forSuites(suites).examine(name, contents: contents)
        }
        do throws(StoreError) {
            try checkWithoutType(place, contents)
            return ReadExamination(error: nil)
        } catch {
            guard error.code.check != nil else { throw error }
            return ReadExamination(error: error)
        }
    }

    private func checkWithoutType(
        _ place: RecordPlace, _ contents: (UnsafeRawBufferPointer, PayloadCodec) throws(StoreError) -> Void
    ) throws(StoreError) {
        let blob = try examinedBlob(place)
        let header = blob.header
        try judge(watermarks.verdict(on: blob.opened.header), header, place)
        guard !header.flags.contains(.tombstone) else {
            throw StoreError(.absent, "read", place.name.text, "It was deleted (sequence \(header.sequence)).")
        }
        try blob.opened.plaintext.withUnsafeBytes { bytes throws(StoreError) in
            try requireSafeStructure(of: bytes, codec: header.codec, named: place.name.text)
            try contents(bytes, header.codec)
        }
        try checkFreshness(of: blob, at: place)
    }

    private func examinedBlob(_ place: RecordPlace) throws(StoreError) -> AcceptedBlob {
        let limit = maximumBlobSize + BlobOpener.signedAllowance
        let blob: [UInt8]
        do throws(FileError) { blob = try backend.read(place.address, limit: limit) } catch {
            throw error.code == .notFound ? absent(place) : StoreError(error, "read", place.name.text)
        }
        return try opened(blob, at: place)
    }

    /// Opens a blob's bytes as those of a place.
    func opened(_ blob: [UInt8], at place: RecordPlace) throws(StoreError) -> AcceptedBlob {
        let opened = try openWhole(blob, "read", place, limit: maximumBlobSize)
        let writer = try requireAuthority(of: opened, at: place)
        return AcceptedBlob(opened: opened, sealed: blob, writer: writer)
    }
}

/// What came of each check of a read, for tools that explain a rejection.
package struct ReadExamination: Sendable {
    package enum Outcome: String, Sendable {
        /// It holds.
        case ok
        /// It does not, and that is why the blob is refused.
        case refused
        /// It could not be made: the vault is locked.
        case locked
        /// An earlier check was the last one.
        case notReached
        /// Only a program that has the record's type can tell.
        case needsType
    }

    /// What the record is refused for, or `.locked`; nil where every check that needs no type holds.
    package let error: StoreError?

    /// What came of a check.
    package func outcome(of check: ReadCheck) -> Outcome {
        if let error, let end = error.code.check {
            if check == end { return error.isRejection ? .refused : .locked }
            if check > end { return .notReached }
        }
        return check.needsType ? .needsType : .ok
    }
}
