import FoundationEssentials
import TestSupport
import Testing

/// Tests of `docs/app-groups.md`: each test that it cites exists.
@Suite struct AppleStatementsTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    /// Returns each `Suite.test` in backticks, anywhere in the chapter.
    private static func named() throws -> [(suite: String, test: String)] {
        let document = try String(
            decoding: SystemFile.read("\(root)/docs/app-groups.md"), as: UTF8.self)
        let chapter = try #require(document.firstRange(of: "## What Apple's documents say"))
        return document[chapter.lowerBound...].split(separator: "`").compactMap { span in
            let parts = span.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].hasSuffix("Tests"), parts[1].allSatisfy(\.isLetter) else { return nil }
            return (String(parts[0]), String(parts[1]))
        }
    }

    private static func sources(below path: String) throws -> [String: String] {
        var sources: [String: String] = [:]
        for name in try SystemFile.names(path) {
            let inner = "\(path)/\(name)"
            if name.hasSuffix(".swift") {
                sources[String(name.dropLast(6))] = String(decoding: try SystemFile.read(inner), as: UTF8.self)
            } else if !name.contains(".") {
                sources.merge(try Self.sources(below: inner)) { $1 }
            }
        }
        return sources
    }

    @Test func everyTestThatTheTableNamesIsThere() throws {
        let named = try Self.named()
        #expect(named.count > 50)
        let sources = try Self.sources(below: "\(Self.root)/Tests")
        for (suite, test) in named {
            let text = sources[suite] ?? sources.values.first { $0.contains("struct \(suite) ") } ?? ""
            #expect(text.contains("func \(test)("), "\(suite).\(test)")
        }
    }
}
