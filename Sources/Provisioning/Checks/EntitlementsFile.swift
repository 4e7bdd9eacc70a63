internal import AppGroups
internal import SharedFiles

/// An `.entitlements` file that was read.
struct EntitlementsFile: Sendable {
    let path: String
    let document: EntitlementsDocument
    /// Of an XML file.
    private let lines: [Substring]

    static func read(_ path: String) -> Result<EntitlementsFile, ProjectFault> {
        Result { () throws(ProjectFault) in try EntitlementsFile(path: path) }
    }

    /// Programs have a dozen; a list of many thousands would be compared with each of the others.
    private static let mostIdentifiers = 1_000

    private init(path: String) throws(ProjectFault) {
        self.path = path
        let bytes: [UInt8]
        do throws(FileError) { bytes = try ProjectFiles.read(path) } catch { throw ProjectFault(error.description) }
        do throws(AppGroupError) {
            document = try EntitlementsDocument(parsing: bytes)
        } catch { throw ProjectFault("\(error.subject): \(error.reason).") }
        for list in [document.applicationGroups, document.keychainAccessGroups] {
            guard list?.count ?? 0 <= Self.mostIdentifiers else {
                throw ProjectFault("A list in it has more than \(Self.mostIdentifiers) groups.")
            }
        }
        let isBinary = bytes.starts(with: "bplist".utf8)
        let text = isBinary ? "" : String(decoding: bytes, as: UTF8.self)
        lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    }

    /// The line that holds a value as an element of its own; nil where the file is binary or writes it otherwise.
    func line(of value: String) -> Int? {
        lines.firstIndex { $0.contains(">\(value)<") }.map { $0 + 1 }
    }
}

/// Entitlements files that were read: several configurations use the same one.
final class EntitlementsFileCache {
    private var files: [String: Result<EntitlementsFile, ProjectFault>] = [:]

    func read(_ path: String) -> Result<EntitlementsFile, ProjectFault> {
        if let known = files[path] { return known }
        let file = EntitlementsFile.read(path)
        files[path] = file
        return file
    }
}
