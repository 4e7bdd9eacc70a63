internal import ContainerAudit
internal import SharedFiles

/// Parts of findings for readers.
package enum FindingText {
    /// Returns `accounts[2].token, line 3:14`, or the bytes if there is no line; empty if the place is unknown.
    static func place(_ finding: Finding) -> String {
        guard let location = finding.location else { return "" }
        return [location.place, position(location)].compactMap { $0 }.joined(separator: ", ").printable
    }

    private static func position(_ location: FindingLocation) -> String? {
        if let line = location.line { return "line \(line)" + (location.column.map { ":\($0)" } ?? "") }
        return location.offset.map { "byte \($0)" }
    }

    /// Returns the title of a finding, followed by its detail.
    static func message(_ finding: Finding) -> String {
        finding.detail.isEmpty ? "\(finding.title)." : "\(finding.title). \(finding.detail)"
    }

    /// Returns `1 finding`, `3 findings`.
    package static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    /// Returns the reason that the report gives for sealed blobs that were not opened.
    static func reasonForNoKeys(_ report: AuditReport) -> String {
        guard let note = report.notes.first else { return "there were no keys" }
        if report.group == nil { return "no group was named" }
        let mark = "blobs were not opened: "
        guard let start = note.firstRange(of: mark)?.upperBound else { return note }
        return String(note[start...])
    }
}

/// A remedy as a sentence and the command that applies it. The command is never broken, so that it can be copied.
struct RemedyText {
    let sentence: String
    let command: String?

    /// Splits a remedy, which is `Do this: command` or a command alone. Commands begin with a small letter and have no
    /// full stop.
    init(_ remedy: String) {
        let text = remedy.printable
        if Self.isCommand(text) {
            (sentence, command) = ("", text)
        } else if let colon = text.firstRange(of: ": "), Self.isCommand(text[colon.upperBound...]) {
            (sentence, command) = (String(text[..<colon.lowerBound]) + ":", String(text[colon.upperBound...]))
        } else {
            (sentence, command) = (text, nil)
        }
    }

    private static func isCommand(_ text: some StringProtocol) -> Bool {
        text.contains(" ") && text.last != "." && text.utf8.first.map { (0x61...0x7A).contains($0) } == true
    }
}

/// Sizes for readers.
package enum ByteText {
    private static let units = ["B", "KiB", "MiB", "GiB", "TiB"]

    /// Returns `512 B`, `1.2 MiB`, `34 GiB`.
    package static func text(_ bytes: Int64) -> String {
        var value = Double(max(0, bytes))
        var unit = 0
        while value >= 1023.5, unit < units.count - 1 {
            value /= 1024
            unit += 1
        }
        if unit == 0 || value >= 9.95 { return "\(Int(value.rounded())) \(units[unit])" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// Returns a percentage, such as `57 %`. A share above zero is never 0 %, and a share below one is never 100 %.
    static func percent(_ share: Double) -> String {
        if share > 0 && share < 0.01 { return "<1 %" }
        if share < 1 && share > 0.99 { return ">99 %" }
        return "\(Int((share * 100).rounded())) %"
    }
}
