/// The checked name of a suite of defaults, and which record holds it.
///
/// A name is one segment of a record's name: letters, digits, `.`, `_`, `-`, not beginning with a dot, 200 bytes at most.
/// Identifiers of groups and programs are such names.
package struct DefaultsSuite: Hashable, Sendable {
    /// What the names of the records that hold suites begin with.
    package static let namePrefix = "\(RecordName.reservedSegment)/defaults/"

    /// The suite's name, as programs and people say it.
    package let name: String
    /// The record that holds it.
    package let recordName: RecordName

    /// - Throws: `StoreError` `.invalidName`.
    package init(_ name: String) throws(StoreError) {
        guard !name.utf8.contains(UInt8(ascii: "/")) else { throw Self.invalid(name, "It has a slash.") }
        do throws(StoreError) { recordName = try RecordName(reserved: Self.namePrefix + name) } catch {
            throw Self.invalid(name, error.reason)
        }
        self.name = name
    }

    /// The suite that a record holds; nil for any other record.
    package init?(holding record: RecordName) {
        guard record.text.hasPrefix(Self.namePrefix) else { return nil }
        try? self.init(String(record.text.dropFirst(Self.namePrefix.count)))
    }

    private static func invalid(_ name: String, _ reason: String) -> StoreError {
        StoreError(
            .invalidName, "use the suite name", name.printable, reason,
            advice: "A suite is named like a group or a program: com.example.app.settings.")
    }
}
