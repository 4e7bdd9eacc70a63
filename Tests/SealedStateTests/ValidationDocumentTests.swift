import Glibc
import TestSupport
import Testing

@testable import SealedState

/// Tests of docs/validation.md: it has the tables of the source.
@Suite struct ValidationDocumentTests {
    /// The document's path, relative to this file.
    private static let path =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
        + "/docs/validation.md"

    @Test func theTablesAreWhatTheSourceSays() throws {
        var text = String(decoding: try SystemFile.read(Self.path), as: UTF8.self)
        let found = text
        for table in RejectionDocument.tables {
            let start = try #require(text.firstRange(of: table.start), "\(table.start) is missing")
            let end = try #require(text[start.upperBound...].firstRange(of: RejectionDocument.end))
            text.replaceSubrange(start.upperBound..<end.lowerBound, with: "\n" + table.markdown + "\n")
        }
        if getenv("SEALED_REGENERATE") != nil { try SystemFile.write(Self.path, Array(text.utf8), mode: 0o644) }
        #expect(
            found == text,
            "docs/validation.md is behind: SEALED_REGENERATE=1 swift test --filter ValidationDocumentTests")
    }
}
