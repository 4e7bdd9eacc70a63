internal import AppGroups
internal import SharedFiles
internal import SystemPackage

/// The place of a finding: the path for display, and the file's name in commands.
struct FindingPlace: Sendable {
    /// The path relative to the container, or absolute outside of it.
    let path: String
    private let absolutePath: String
    /// The last segment if it is not UTF-8.
    private var rawName: [UInt8]?
    private let group: String?
    /// The name of a record in the container's database, which is not a file.
    private var record: String?

    /// Creates the place of a path in the container; `.` is the container itself.
    init(_ path: String, in scope: AuditScope) {
        self.path = path
        // A command must work in any directory, and its file must not look like an option.
        absolutePath = scope.root.path.isAbsolute ? scope.root.display(path) : Self.joined(scope.realPath, path)
        group = scope.group?.identifier
        if scope.database?.isRecord(path) == true { record = String(path.dropFirst(RecordDatabase.path.count + 1)) }
    }

    /// Creates the place of a name that may not be UTF-8.
    init(_ path: String, rawName: [UInt8]?, in scope: AuditScope) {
        self.init(path, in: scope)
        self.rawName = rawName
    }

    /// Creates a place outside the container.
    init(outside path: String, group: String?) {
        self.path = path
        absolutePath = path
        self.group = group
    }

    /// Creates a place for templates, which keep placeholder names for the user.
    init(template: Void) {
        self.init(outside: "FILE", group: nil)
    }

    /// Returns the template with its placeholders replaced.
    func filling(_ template: String) -> String {
        let template = record.map { Self.command(of: template, for: $0) } ?? template
        let named = Self.replacing("{group}", in: template, by: group ?? "GROUP")
        let database = String(FileNames.database(ofCompanion: absolutePath) ?? absolutePath[...])
        return Self.replacing(
            "{file}", in: Self.replacing("{database}", in: named, by: Self.shellWord(database)),
            by: Self.shellWord(absolutePath, rawName))
    }

    /// Returns the template with commands that take a record's name in place of those that take a file.
    private static func command(of template: String, for record: String) -> String {
        ["sealctl inspect {file}", "ls -ld {file}"].reduce(template) {
            $0.replacing($1, with: "sealctl inspect --group {group} \(shellWord(record))")
        }
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

    /// Returns the path as one word of bash, ksh or zsh. Control characters in a name are escaped for the shell:
    /// unescaped they would drive the terminal, and escaped for display they would name another file.
    private static func shellWord(_ path: String, _ rawName: [UInt8]? = nil) -> String {
        guard rawName != nil || path.printable != path else { return path.shellQuoted }
        let directory = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8[...$0] } ?? path.utf8.prefix(0)
        return (rawName.map { Array(directory) + $0 } ?? Array(path.utf8)).reduce(into: "$'") { word, byte in
            let isPlain = (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "'") && byte != UInt8(ascii: "\\")
            word += isPlain ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        } + "'"
    }
}
