internal import AppGroups
internal import SharedFiles

/// An `.entitlements` file.
struct EntitlementsFile: Sendable {
    let path: String
    let document: EntitlementsDocument
    /// The line of each value that is a separate element of an XML file.
    private let lines: [Substring: Int]

    static func read(_ path: String) -> Result<EntitlementsFile, ProjectFault> {
        Result { () throws(ProjectFault) in try EntitlementsFile(path: path) }
    }

    /// The limit on identifiers. Programs have a dozen, and each identifier is compared with all others.
    private static let mostIdentifiers = 1_000

    private init(path: String) throws(ProjectFault) {
        self.path = path
        let bytes: [UInt8]
        do throws(FileError) { bytes = try ProjectFiles.read(path) } catch { throw ProjectFault(error.sentence) }
        do throws(AppGroupError) {
            document = try EntitlementsDocument(parsing: bytes)
        } catch { throw ProjectFault("\(error.subject): \(error.reason.clause).") }
        for list in [document.applicationGroups, document.keychainAccessGroups] {
            guard list?.count ?? 0 <= Self.mostIdentifiers else {
                throw ProjectFault("A list in it has more than \(Self.mostIdentifiers) groups.")
            }
        }
        let isBinary = bytes.starts(with: "bplist".utf8)
        let text = isBinary ? "" : String(decoding: bytes, as: UTF8.self)
        lines = Self.lines(of: text)
    }

    /// Returns the first line of each text between two tags.
    private static func lines(of text: String) -> [Substring: Int] {
        var found: [Substring: Int] = [:]
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            for piece in line.split(separator: "<").dropLast() {
                guard let close = piece.firstIndex(of: ">") else { continue }
                let value = piece[piece.index(after: close)...]
                if found[value] == nil { found[value] = index + 1 }
            }
        }
        return found
    }

    /// Returns the line that contains a value as a separate element, or `nil` if the file is binary or writes it
    /// otherwise.
    func line(of value: String) -> Int? { lines[value[...]] }
}

/// A cache of entitlements files, because several configurations use the same one.
final class EntitlementsFileCache {
    private var files: [String: Result<EntitlementsFile, ProjectFault>] = [:]

    func read(_ path: String) -> Result<EntitlementsFile, ProjectFault> {
        if let known = files[path] { return known }
        let file = EntitlementsFile.read(path)
        files[path] = file
        return file
    }
}
