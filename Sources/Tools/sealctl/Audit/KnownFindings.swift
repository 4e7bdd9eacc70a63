internal import AuditReports
internal import ContainerAudit
internal import CryptoPrimitives
internal import FoundationEssentials
internal import Glibc
internal import SharedFiles

/// The files that list the known findings.
enum KnownFindings {
    static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func ignoreList(_ path: String) throws(Failure) -> AuditIgnoreList {
        try ignoreList(path, try SmallFile.read(path))
    }

    /// Returns the list that a directory contains under its usual name. Every user with write permission there can
    /// store any file under that name, so no link is followed, only a regular file is read, and its time stamps do not
    /// change.
    static func usualIgnoreList(in directory: String, name: String) throws(Failure) -> AuditIgnoreList {
        let bytes = try Failure.onFiles { () throws(FileError) in
            try Directory.open(directory).withoutTrace().read(name, limit: largestList)
        }
        return try ignoreList(directory + "/" + name, bytes)
    }

    private static let largestList = 64 << 20

    private static func ignoreList(_ path: String, _ bytes: [UInt8]) throws(Failure) -> AuditIgnoreList {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.dataError, "notText", "\(path) is not text in UTF-8", hint: "Correct it, or remove it.")
        }
        do throws(AuditError) { return try AuditIgnoreList(parsing: text) } catch { throw refused(path, error) }
    }

    static func baseline(_ path: String) throws(Failure) -> AuditBaseline {
        let bytes = try SmallFile.read(path)
        do throws(AuditError) { return try AuditBaseline(json: Data(bytes)) } catch { throw refused(path, error) }
    }

    /// - Parameter key: The key that the report's fingerprints were made with.
    static func write(_ report: AuditReport, _ key: FingerprintKey, to path: String) throws(Failure) {
        guard let json = try? AuditBaseline(of: report, key: key).json() else {
            throw Failure(
                .internalError, "unencodable", "the baseline could not be written as JSON", hint: "Report it.")
        }
        try write(String(decoding: json, as: UTF8.self) + "\n", to: path)
    }

    /// Adds findings to an ignore list and keeps its present content. The list is created if necessary.
    ///
    /// - Returns: The number of added findings.
    static func add(_ findings: [Finding], _ key: FingerprintKey, to path: String) throws(Failure) -> Int {
        let isNew = !isThere(path)
        let old = isNew ? AuditIgnoreList() : try ignoreList(path)
        let text = isNew ? AuditIgnoreList().text : String(decoding: try SmallFile.read(path), as: UTF8.self)
        let addition = old.addition(of: findings, key: key)
        let joint = text.isEmpty || text.hasSuffix("\n") ? "" : "\n"
        try write(text + joint + addition.text, to: path)
        return addition.count
    }

    private static func write(_ text: String, to path: String) throws(Failure) {
        let file = ReportFile(try OutputFile(path, mode: ordinaryFileMode()))
        file.write(text)
        try file.finish()
    }

    private static func refused(_ path: String, _ error: AuditError) -> Failure {
        Failure(.dataError, error.code.rawValue, "cannot use \(path): \(error.reason)", hint: error.advice)
    }
}

/// Small files that a person wrote or keeps. They are read whole.
enum SmallFile {
    /// - Parameter limit: The largest accepted size in bytes.
    static func read(_ path: String, limit: Int = 64 << 20) throws(Failure) -> [UInt8] {
        let input = try InputFile(path)
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = try Failure.onFiles { () throws(FileError) in
                var span = block.mutableSpan
                return try span.withUnsafeMutableBytes { buffer throws(FileError) in try input.read(into: buffer) }
            }
            if count == 0 { return bytes }
            bytes += block[..<count]
            guard bytes.count <= limit else {
                throw Failure(
                    .dataError, "tooLarge", "\(path) is larger than \(ByteText.text(Int64(limit)))",
                    hint: "Name another file.")
            }
        }
    }
}
