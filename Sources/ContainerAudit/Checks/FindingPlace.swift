internal import AppGroups
internal import SharedFiles
internal import SystemPackage

/// Where a finding is: the path to show, and what a command calls the file.
struct FindingPlace: Sendable {
    /// Below the container, or absolute outside of it.
    let path: String
    private let absolutePath: String
    private let group: String?

    /// Something below the container; `.` is the container itself.
    init(_ path: String, in scope: AuditScope) {
        self.path = path
        // A command has to work wherever it is run, and its file must not look like an option.
        absolutePath = scope.root.path.isAbsolute ? scope.root.display(path) : Self.joined(scope.realPath, path)
        group = scope.group?.identifier
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
        Self.replacing("{file}", in: Self.replacing("{group}", in: template, by: group ?? "GROUP"), by: shellWord)
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
    private var shellWord: String {
        guard absolutePath.printable != absolutePath else { return absolutePath.shellQuoted }
        return absolutePath.utf8.reduce(into: "$'") { word, byte in
            let isPlain = (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "'") && byte != UInt8(ascii: "\\")
            word += isPlain ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        } + "'"
    }
}
