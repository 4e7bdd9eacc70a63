internal import AppGroups
internal import FoundationEssentials
internal import SealedState
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// Contents of any size that become a sealed file; memory stays constant.
final class FileForm: SealedForm {
    let store: SealedStore
    private var contents: FileContents
    private let name: String
    private let place: RecordPlace

    /// The bytes that are compared at once.
    private static let pieceSize = 4 << 20

    /// The most times that a database is read.
    private static let readings = 3

    /// - Throws: `StoreError` `.invalidName`.
    init(of contents: FileContents, as name: String, in store: SealedStore) throws(StoreError) {
        place = try store.filePlace(name)
        self.store = store
        self.contents = contents
        self.name = name
    }

    var form: MovedItem.Form { .file }
    var target: String { name }
    var file: FileContents? { contents }

    func compare() throws(StoreError) -> SealedFormState {
        switch try store.reader.existing(at: place) {
        case .nothing: return .absent
        case .tombstone: return .different("it was deleted")
        case .refused(let refused): return .different("readers refuse it (\(refused.rejection.code.rawValue))")
        case .value: break
        }
        do throws(StoreError) {
            if try isSame(store.files.open(name)) { return .same }
            try contents.requireUnchanged()
            return .different("it has other contents")
        } catch {
            guard error.isRejection else { throw error }
            return .different("readers refuse it (\(error.code.rawValue))")
        }
    }

    private func isSame(_ file: SealedFileHandle) throws(StoreError) -> Bool {
        guard file.size == contents.size else { return false }
        var position = 0
        while position < file.size {
            let end = min(position + Self.pieceSize, file.size)
            guard try contents.holds(file.read(position..<end), at: Int64(position)) else { return false }
            position = end
        }
        return true
    }

    func rehearse() throws(StoreError) {
        let (store, name) = (store, name)
        guard contents.size <= BlobLayout.maximumChunkCount * BlobLayout.chunkSize else {
            throw StoreError(
                .tooLarge, StoreError.plaintextImport, target.printable, "Its source has \(contents.size) bytes.",
                advice: "Divide it into several files.")
        }
        try store.admit("\(ContainerLayout.contents)/\(name)", plaintext: Int(contents.size), for: target) {
            (try? store.files.info(of: name))?.value.size ?? 0
        }
    }

    /// A database that a program writes meanwhile is read again.
    func seal(replacing: Bool) throws(StoreError) {
        for _ in 1..<Self.readings {
            do throws(StoreError) { return try write(replacing) } catch {
                guard error.code == .sourceChanged, let again = try contents.reopened() else { throw error }
                pause(.milliseconds(200))
                contents = again
            }
        }
        try write(replacing)
    }

    private func write(_ replacing: Bool) throws(StoreError) {
        let attributes = SealedFiles.Attributes(
            modified: contents.modified, protection: replacing ? .vaultDefault : .afterFirstUnlock)
        let (contents, position) = (contents, SourcePosition())
        try store.files.write(
            size: Int(contents.size), named: name, attributes, onlyIf: replacing ? .always : .absent,
            durability: .durable
        ) { buffer throws(StoreError) in
            let count = try contents.read(into: buffer, at: position.value)
            position.advance(count)
            // Before the file is written: it would have the bytes of two moments.
            if count < buffer.count { try contents.requireUnchanged() }
            return count
        }
    }

    func makeDurable() throws(StoreError) { try store.files.makeDurable(name) }
}

/// The position in a source that is read by one thread at a time, but not always the same.
private final class SourcePosition: Sendable {
    private let offset = Atomic<Int64>(0)
    var value: Int64 { offset.load(ordering: .relaxed) }
    func advance(_ count: Int) { offset.add(Int64(count), ordering: .relaxed) }
}

extension SealedFileName {
    /// Returns the name of the sealed file that a file with this path becomes: the path, with `_` for each character
    /// that names do not have. `nil` for a path that is too long or too deep.
    static func name(ofPath path: String) -> String? {
        let segments = path.split(separator: "/").map { segment in
            let isHidden = segment.hasPrefix(".")
            let text = String((isHidden ? segment.dropFirst() : segment).map { isAllowed($0) ? $0 : "_" })
            let isSealed = text.hasSuffix(ContainerLayout.recordSuffix)
            return (isHidden ? "_" : "") + text + (isSealed ? "_" : "")
        }
        let name = segments.joined(separator: "/")
        return (try? SealedFileName(name)) == nil ? nil : name
    }

    private static func isAllowed(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber || "._-".contains(character))
    }
}

/// Checks of the container that a move seals into.
extension SealedStore {
    /// Returns the place of a sealed file's manifest.
    func filePlace(_ name: String) throws(StoreError) -> RecordPlace {
        try places.place(reserved: SealedFileName(name).recordName.text)
    }

    /// Refuses to continue in a container that was given up or replaced: a file sealed there would be in the trash.
    ///
    /// - Throws: `StoreError` `.containerMissing`, `.container`.
    func requireInPlace() throws(StoreError) {
        guard try following() !== self else { return }
        throw StoreError(
            .containerMissing, StoreError.plaintextImport, group.identifier,
            "Its container was abandoned or replaced in the meantime; no plaintext was removed after that.",
            advice: "Try again; sealctl container trash list shows abandoned containers.")
    }

    /// Requests space from the container's quota.
    ///
    /// - Parameter existing: The size of the value that is replaced; that of the file at the path unless stated.
    /// - Throws: `StoreError` `.quotaExceeded`; for a container that was given up as `requireInPlace`.
    func admit(
        _ path: String, plaintext size: Int, for target: String, replacing existing: (() -> Int)? = nil
    ) throws(StoreError) {
        do throws(FileError) {
            try container.quotaGate.admit(path, size: BlobLayout.blobSize(plaintextSize: size), replacing: existing)
        } catch {
            if error.code == .notFound { try requireInPlace() }
            throw StoreError(writing: error, target)
        }
    }
}
