internal import AuditReports
internal import ContainerAudit
internal import CryptoPrimitives
internal import FoundationEssentials
internal import Glibc
internal import SharedFiles

/// The files that say which findings are known.
enum KnownFindings {
    static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func ignoreList(_ path: String) throws(Failure) -> AuditIgnoreList {
        try ignoreList(path, try SmallFile.read(path))
    }

    /// The list that lies in a directory under its usual name. Whoever may write there may have put anything under that name:
    /// no link is followed, only a regular file is read, and no time stamp of it changes.
    static func usualIgnoreList(in directory: String, name: String) throws(Failure) -> AuditIgnoreList {
        let bytes = try Failure.onFiles { () throws(FileError) in
            try Directory.open(directory).withoutTrace().read(name, limit: largestList)
        }
        return try ignoreList(directory + "/" + name, bytes)
    }

    private static let largestList = 64 << 20

    private static func ignoreList(_ path: String, _ bytes: [UInt8]) throws(Failure) -> AuditIgnoreList {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.dataError, "notText", "\(path) is no text in UTF-8", hint: "Correct it, or remove it.")
        }
        do throws(AuditError) { return try AuditIgnoreList(parsing: text) } catch { throw refused(path, error) }
    }

    static func baseline(_ path: String) throws(Failure) -> AuditBaseline {
        let bytes = try SmallFile.read(path)
        do throws(AuditError) { return try AuditBaseline(json: Data(bytes)) } catch { throw refused(path, error) }
    }

    /// - Parameter key: The one that the report's fingerprints were made with.
    static func write(_ report: AuditReport, _ key: FingerprintKey, to path: String) throws(Failure) {
        guard let json = try? AuditBaseline(of: report, key: key).json() else {
            throw Failure(
                .internalError, "unencodable", "the baseline could not be written as JSON", hint: "Report it.")
        }
        try write(String(decoding: json, as: UTF8.self) + "\n", to: path)
    }

    /// Adds findings to an ignore list, which is made where there is none; what stands in it stays as it is.
    ///
    /// - Returns: How many were added.
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

/// Files that a person wrote or keeps: read whole.
enum SmallFile {
    /// - Parameter limit: More bytes than this are refused.
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
