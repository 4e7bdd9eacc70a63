internal import CryptoPrimitives
internal import Glibc
internal import SealedState
internal import Sealing
internal import SharedFiles
internal import SystemPackage

/// A file of plaintext that is to be moved: open, and identified again before its removal.
final class PlaintextSource: Sendable {
    /// The name for messages.
    let name: String
    let descriptor: Descriptor
    private let directory: Directory
    /// The path below the directory, before an earlier call set it aside.
    let relative: String
    /// The path below the directory where it is.
    private let present: String
    /// The file's attributes before anything was read.
    private let known: FileMoment

    var facts: FileAttributes { known.attributes }
    /// The path below a directory whose path has no links.
    var path: String { directory.display(present) }

    /// - Parameters:
    ///   - named: The name for messages.
    ///   - aside: The path where an earlier call has set it aside, if one did.
    /// - Throws: `StoreError` `.sourceUnusable` for a link, a pipe or any other object than a regular file, and for a
    ///   file that was set aside while its name was taken again. If it is missing, the cause is `FileError`
    ///   `.notFound`.
    init(
        _ relative: String, in directory: Directory, named name: String, aside: String?, isDryRun: Bool
    ) throws(StoreError) {
        self.name = name
        self.directory = directory
        self.relative = relative
        do throws(FileError) {
            if let aside, isDryRun, try !directory.exists(relative) {
                present = aside
            } else {
                if let aside, !isDryRun { try directory.restoreAside(relative, from: aside) }
                present = relative
            }
            descriptor = try directory.openForReading(present)
            known = try descriptor.moment()
        } catch {
            if error.code == .alreadyExists, let aside { throw Self.twice(aside, name) }
            throw StoreError(reading: error, name)
        }
    }

    /// Opens a file by a user's path: links on the way are followed, the file itself must not be one.
    convenience init(path: String, isDryRun: Bool) throws(StoreError) {
        let (directory, leaf) = try Self.place(of: path)
        let asides: [String]
        do throws(FileError) { asides = try directory.asides(of: leaf) } catch {
            throw StoreError(reading: error, path)
        }
        if let second = asides.dropFirst().first { throw Self.twice(second, path) }
        try self.init(leaf, in: directory, named: path, aside: asides.first, isDryRun: isDryRun)
    }

    /// Returns the directory of a path, and the path's last segment.
    static func place(of path: String) throws(StoreError) -> (directory: Directory, leaf: String) {
        let whole = FilePath(path)
        guard let leaf = whole.lastComponent, leaf.kind == .regular, !path.hasSuffix("/"), !path.utf8.contains(0) else {
            throw StoreError.unusable(path, "It is not the path of a file.")
        }
        let above = whole.removingLastComponent()
        do throws(FileError) {
            let parent = above.isEmpty ? "." : above.string
            return (try Directory.open(Self.real(parent) ?? parent), leaf.string)
        } catch { throw StoreError(reading: error, path) }
    }

    /// Returns the path without links, or `nil` if it does not exist.
    static func real(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func twice(_ aside: String, _ name: String) -> StoreError {
        StoreError(
            .conflict, StoreError.plaintextImport, name.printable,
            "It was written again after an earlier call had sealed it and set it aside as "
                + "\(aside.printable).",
            advice: "Compare both, and remove one of them.")
    }

    /// Returns the whole contents, wiped with the buffer.
    ///
    /// - Throws: `StoreError` `.tooLarge`, `.sourceChanged`.
    func read(limit: Int) throws(StoreError) -> PlaintextBuffer {
        guard facts.size <= limit else {
            throw StoreError(
                .tooLarge, StoreError.plaintextImport, name.printable, "It has over \(limit) bytes.",
                advice: "Seal it as a file instead.")
        }
        var bytes = PlaintextBuffer(count: Int(facts.size))
        let isWhole: Bool
        do throws(FileError) {
            let count = try bytes.withUnsafeMutableBytes { buffer throws(FileError) in
                try descriptor.pread(into: buffer, at: 0)
            }
            let now = try descriptor.moment()
            isWhole = count == bytes.count && now.isUntouched(since: known)
        } catch { throw StoreError(reading: error, name) }
        guard isWhole else { throw changed }
        return bytes
    }

    /// The error for a source that another program writes.
    var changed: StoreError {
        StoreError(
            .sourceChanged, StoreError.plaintextImport, name.printable, "It was written in the meantime.",
            advice: "End the program that writes it, and try again.")
    }

    /// - Throws: `StoreError` `.sourceChanged` if it was written since it was opened.
    func requireUnchanged() throws(StoreError) {
        let isUnchanged = try reading { () throws(FileError) in try descriptor.moment().isUntouched(since: known) }
        if !isUnchanged { throw changed }
    }

    /// Returns the same file, opened again.
    func reopened() throws(StoreError) -> PlaintextSource {
        try PlaintextSource(relative, in: directory, named: name, aside: nil, isDryRun: true)
    }

    /// Returns whether the file begins like a sealed file of this library.
    func holdsSealedForm() throws(StoreError) -> Bool {
        let head = try reading { () throws(FileError) in
            try directory.readPrefix(present, count: BlobLayout.headerSize).bytes
        }
        return (try? UnverifiedHeader(parsing: head)) != nil
    }

    /// Refuses a file that has another name, or that another process has open for writing.
    func requireRemovable() throws(StoreError) { try requireRemovable(descriptor, name) }

    private func requireRemovable(_ file: borrowing Descriptor, _ name: String) throws(StoreError) {
        let links = try reading { () throws(FileError) in try file.attributes().nlink }
        guard links == 1 else {
            throw StoreError.unusable(
                name, "It has \(links) names; its plaintext would remain under the others.",
                advice: "Remove the others first, or keep the source.")
        }
        do throws(FileError) { try file.requireNoWriter() } catch { throw Self.written(name, error) }
    }

    private static func written(_ name: String, _ error: FileError) -> StoreError {
        StoreError(
            .sourceChanged, StoreError.plaintextImport, name.printable, "It is being written.", advice: error.advice,
            cause: error)
    }

    /// Removes the file, durably, if it is still the one that was read.
    ///
    /// - Throws: `StoreError` `.sourceChanged`; `.sourceKept`; `.durabilityUnknown`.
    func remove() throws(StoreError) { try remove(present, known, name) }

    /// Removes a part of the source, which is a database, in the same way.
    func remove(part path: String, _ known: FileMoment) throws(StoreError) {
        try remove(path, known, directory.display(path))
    }

    private func remove(_ path: String, _ known: FileMoment, _ name: String) throws(StoreError) {
        do throws(FileError) { try directory.remove(path, ifStill: known) } catch {
            switch error.code {
            // Another process has moved it just as this call did.
            case .notFound: return
            case .overtaken: throw Self.written(name, error)
            case .durabilityUnknown:
                throw StoreError(
                    .durabilityUnknown, "remove the plaintext", name.printable, error.sentence,
                    advice: "It is sealed and removed; after a power loss check that it did not reappear.",
                    errno: error.errno, cause: error)
            default:
                throw StoreError(
                    .sourceKept, "remove the plaintext", name.printable, error.sentence, advice: error.advice,
                    errno: error.errno, cause: error)
            }
        }
    }
}

/// The files beside a source.
extension PlaintextSource {
    /// The last segment of the path.
    var leaf: String { relative.split(separator: "/").last.map(String.init) ?? relative }

    /// Makes calls of the file system; their errors are those of reading the source.
    func reading<Result: ~Copyable>(_ body: () throws(FileError) -> Result) throws(StoreError) -> Result {
        do throws(FileError) { return try body() } catch { throw StoreError(reading: error, name) }
    }

    /// Opens a file beside the source; `nil` if it is missing.
    ///
    /// - Parameters:
    ///   - path: A path like `relative`.
    ///   - orNone: Treats a file that cannot be opened, such as a directory, as missing.
    func part(_ path: String, orNone: Bool = false) throws(FileError) -> Descriptor? {
        do throws(FileError) { return try directory.openForReading(path) } catch {
            guard error.code == .notFound || orNone else { throw error }
            return nil
        }
    }

    /// Refuses a part that has another name, or that another process has open for writing.
    func requireRemovable(part path: String) throws(StoreError) {
        guard let file = try reading({ () throws(FileError) in try part(path) }) else { throw changed }
        try requireRemovable(file, directory.display(path))
    }

    /// Returns whether the file is a part of a database beside it.
    func isPart(of owner: String) throws(StoreError) -> Bool {
        try reading { () throws(FileError) in
            guard let file = try part(owner) else { return DatabaseFiles.isPart(try descriptor.head()) }
            return try file.head() == DatabaseFiles.magic
        }
    }

    /// Returns whether the path still refers to the open file.
    func isInPlace() throws(FileError) -> Bool {
        do throws(FileError) { return try directory.attributes(present).isSameFile(as: facts) } catch {
            guard error.code == .notFound else { throw error }
            return false
        }
    }

    /// Returns the names in the source's directory; none if it may be used and not listed.
    func siblings() throws(FileError) -> [String] {
        do throws(FileError) { return try directory.parent(of: relative, "list").0.entries().map(\.name) } catch {
            guard error.code == .permissionDenied else { throw error }
            return []
        }
    }
}
