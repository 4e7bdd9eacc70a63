internal import AppGroups
internal import SharedFiles
internal import SystemPackage

/// Where a finding is: the path to show, and what a command calls the file.
struct FindingPlace: Sendable {
    /// Below the container, or absolute outside of it.
    let path: String
    private let absolutePath: String
    /// The last segment where that is no UTF-8.
    private var rawName: [UInt8]?
    private let group: String?

    /// Something below the container; `.` is the container itself.
    init(_ path: String, in scope: AuditScope) {
        self.path = path
        // A command has to work wherever it is run, and its file must not look like an option.
        absolutePath = scope.root.path.isAbsolute ? scope.root.display(path) : Self.joined(scope.realPath, path)
        group = scope.group?.identifier
    }

    /// The same of a name that may be no UTF-8.
    init(_ path: String, rawName: [UInt8]?, in scope: AuditScope) {
        self.init(path, in: scope)
        self.rawName = rawName
    }

    /// Something outside the container.
    init(outside path: String, group: String?) {
        self.path = path
        absolutePath = path
        self.group = group
    }

    /// No place: templates keep names for people to fill in.
    init(template: Void) {
        self.init(outside: "FILE", group: nil)
    }

    /// The template with its placeholders filled in.
    func filling(_ template: String) -> String {
        let named = Self.replacing("{group}", in: template, by: group ?? "GROUP")
        let database = String(FileNames.database(ofCompanion: absolutePath) ?? absolutePath[...])
        return Self.replacing(
            "{file}", in: Self.replacing("{database}", in: named, by: Self.shellWord(database)),
            by: Self.shellWord(absolutePath, rawName))
    }

    private static func joined(_ root: String, _ path: String) -> String { path == "." ? root : "\(root)/\(path)" }

    private static func replacing(_ placeholder: String, in text: String, by value: String) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "{") {
            result += rest[..<start]
            let isPlaceholder = rest[start...].hasPrefix(placeholder)
            result += isPlaceholder ? value : "{"
            rest = rest[start...].dropFirst(isPlaceholder ? placeholder.count : 1)
        }
        return result + rest
    }

    /// The path as one word of bash, ksh or zsh. A name with control characters is spelled out: printed as it is it would
    /// drive the terminal, and escaped for the eye it would name another file.
    private static func shellWord(_ path: String, _ rawName: [UInt8]? = nil) -> String {
        guard rawName != nil || path.printable != path else { return path.shellQuoted }
        let directory = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8[...$0] } ?? path.utf8.prefix(0)
        return (rawName.map { Array(directory) + $0 } ?? Array(path.utf8)).reduce(into: "$'") { word, byte in
            let isPlain = (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "'") && byte != UInt8(ascii: "\\")
            word += isPlain ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        } + "'"
    }
}
