internal import CryptoPrimitives
internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// A file of plaintext that is to be moved: open, and known again when it is taken away.
final class PlaintextSource: Sendable {
    /// What messages call it.
    let name: String
    let descriptor: Descriptor
    /// As it was before anything was read.
    let facts: FileAttributes
    private let directory: Directory
    private let relative: String

    /// - Parameter named: What messages call it.
    /// - Throws: `StoreError` `.sourceUnusable` for a link, a pipe or anything else than a regular file, and for one that
    ///   was set aside while its name was taken anew. `FileError` `.notFound` is its cause where there is none.
    init(_ relative: String, in directory: Directory, named name: String, isDryRun: Bool) throws(StoreError) {
        self.name = name
        self.directory = directory
        do throws(FileError) {
            let aside = Directory.asideName(of: relative)
            if isDryRun, try !directory.exists(relative), try directory.exists(aside) {
                self.relative = aside
            } else {
                if !isDryRun { try directory.bringBack(relative) }
                self.relative = relative
            }
            descriptor = try directory.openForReading(self.relative)
            facts = try descriptor.attributes()
        } catch {
            if error.code == .alreadyExists { throw Self.twice(relative, name) }
            throw StoreError(reading: error, name)
        }
    }

    /// Opens a file by the path that a person gave: links on the way are followed, the file itself must be none.
    convenience init(path: String, isDryRun: Bool) throws(StoreError) {
        let (directory, leaf) = try Self.place(of: path)
        try self.init(leaf, in: directory, named: path, isDryRun: isDryRun)
    }

    /// The directory that a path lies in, and the path's last segment.
    static func place(of path: String) throws(StoreError) -> (directory: Directory, leaf: String) {
        let whole = FilePath(path)
        guard let leaf = whole.lastComponent, leaf.kind == .regular, !path.hasSuffix("/"), !path.utf8.contains(0) else {
            throw StoreError.unusable(path, "That is no path of a file.")
        }
        let above = whole.removingLastComponent()
        do throws(FileError) {
            let parent = above.isEmpty ? "." : above.string
            return (try Directory.open(Self.real(parent) ?? parent), leaf.string)
        } catch { throw StoreError(reading: error, path) }
    }

    /// The path without links; nil where there is nothing.
    static func real(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func twice(_ relative: String, _ name: String) -> StoreError {
        StoreError(
            .conflict, StoreError.movingIn, name.printable,
            "It was written anew after an earlier call had sealed it and set it aside as "
                + "\(Directory.asideName(of: relative).printable).",
            advice: "Look at both, and remove one of them.")
    }

    /// The whole contents, wiped with the buffer.
    ///
    /// - Throws: `StoreError` `.tooLarge`, `.sourceChanged`.
    func read(limit: Int) throws(StoreError) -> PlaintextBuffer {
        guard facts.size <= limit else {
            throw StoreError(
                .tooLarge, StoreError.movingIn, name.printable, "It has over \(limit) bytes.",
                advice: "Seal it as a file instead.")
        }
        var bytes = PlaintextBuffer(count: Int(facts.size))
        let isWhole: Bool
        do throws(FileError) {
            let count = try bytes.withUnsafeMutableBytes { buffer throws(FileError) in
                try descriptor.pread(into: buffer, at: 0)
            }
            let now = try descriptor.attributes()
            isWhole = count == bytes.count && now.isUnchanged(since: facts)
        } catch { throw StoreError(reading: error, name) }
        guard isWhole else { throw changed }
        return bytes
    }

    private var changed: StoreError {
        StoreError(.sourceChanged, StoreError.movingIn, name.printable, "It was written meanwhile.")
    }

    /// Refuses a file that would live on under another name.
    func requireSoleName() throws(StoreError) {
        guard facts.nlink > 1 else { return }
        throw StoreError.unusable(
            name, "It has \(facts.nlink) names; under the others its plaintext would stay.",
            advice: "Remove the others first, or keep the source.")
    }

    /// Removes it, durably, if it is still what was read.
    ///
    /// - Throws: `StoreError` `.sourceChanged`; `.sourceKept`; `.durabilityUnknown`.
    func remove() throws(StoreError) {
        do throws(FileError) { try directory.remove(relative, ifStill: facts) } catch {
            switch error.code {
            // Somebody else has moved it just as this call did.
            case .notFound: return
            case .overtaken: throw changed
            case .durabilityUnknown:
                throw StoreError(
                    .durabilityUnknown, "remove the plaintext", name.printable, error.description,
                    advice: "It is sealed and removed; after a power loss look whether it came back.",
                    errno: error.errno, cause: error)
            default:
                throw StoreError(
                    .sourceKept, "remove the plaintext", name.printable, error.description, advice: error.advice,
                    errno: error.errno, cause: error)
            }
        }
    }
}
