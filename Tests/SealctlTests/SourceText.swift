import TestSupport

/// Files of the project, located relative to this source file.
enum SourceText {
    private static let root =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")

    static func read(_ path: String) throws -> String {
        String(decoding: try SystemFile.read("\(root)/\(path)"), as: UTF8.self)
    }
}
