internal import FoundationEssentials
internal import SealedState

/// The golden records of one record: `<directory>/<record>/<version>.golden`.
struct GoldenFolder {
    private static let suffix = ".golden"

    private let folder: String
    let record: String

    /// - Parameters:
    ///   - directory: The path; empty for the working directory.
    ///   - record: The record's name. As a path it must not lead out of the directory.
    ///   - version: The version for error messages.
    /// - Throws: `GoldenFault` `.badExample` for an invalid record name.
    init(directory: String, record: String, version: Int) throws(GoldenFault) {
        do throws(StoreError) { _ = try RecordName(record) } catch {
            throw GoldenFault(
                .badExample, error.subject, version, "It is not a valid record name: \(error.reason)",
                advice: error.advice, cause: error)
        }
        folder = "\(directory.isEmpty ? "." : directory)/\(record)"
        self.record = record
    }

    func path(of version: Int) -> String { "\(folder)/\(version)\(Self.suffix)" }

    /// Returns every version that has a file, unordered.
    func versions() throws(GoldenFault) -> [Int] {
        guard FileManager.default.fileExists(atPath: folder) else { return [] }
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch { throw fault(error, 0) }
        return names.compactMap { name in
            name.hasSuffix(Self.suffix) ? Int(name.dropLast(Self.suffix.count)) : nil
        }
    }

    /// Returns the file of a version, or `nil` if it does not exist.
    func file(of version: Int) throws(GoldenFault) -> GoldenFile? {
        guard FileManager.default.fileExists(atPath: path(of: version)) else { return nil }
        let text: String
        do {
            text = String(decoding: try Data(contentsOf: URL(filePath: path(of: version))), as: UTF8.self)
        } catch { throw fault(error, version) }
        guard let file = GoldenFile(parsing: text), file.record == record, file.version == version, file.isConsistent
        else {
            throw GoldenFault(
                .damaged, record, version, "\(path(of: version)) was changed after it was written.",
                advice: "Restore it from version control; it must not be edited, moved or converted to other line ends."
            )
        }
        return file
    }

    func write(_ file: GoldenFile) throws(GoldenFault) {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            // Never overwrites a file that another process created meanwhile.
            try Data(file.text.utf8).write(to: URL(filePath: path(of: file.version)), options: .withoutOverwriting)
        } catch { throw fault(error, file.version) }
    }

    private func fault(_ error: any Error, _ version: Int) -> GoldenFault {
        GoldenFault(
            .file, record, version, "\(folder): \(error)", advice: "Check the directory's path and permissions.")
    }
}
