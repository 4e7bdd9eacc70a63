internal import Glibc
internal import SharedFiles

/// A file of a container, open to be copied.
final class OpenFile {
    /// What was read of a file, and whether nobody wrote to it meanwhile.
    struct Contents {
        let bytes: [UInt8]
        let facts: FileAttributes
        let modified: FileTime
        let isSettled: Bool
    }

    private static let partSize: Int64 = 1 << 20
    private let file: Descriptor
    /// As it was when it was opened.
    let facts: FileAttributes
    /// When it was changed last, by then.
    let modified: FileTime

    init(_ path: String, in container: Directory) throws(FileError) {
        file = try container.openForReading(path)
        facts = try file.attributes()
        var status = stat()
        fstat(file.rawValue, &status)
        modified = FileTime(status.st_mtim)
    }

    /// Whether it is as it was when it was opened, as far as its size and its times tell.
    var isUnchanged: Bool {
        guard let now = try? file.attributes() else { return false }
        return now.size == facts.size && now.modifiedNanoseconds == facts.modifiedNanoseconds
    }

    func contents() throws(FileError) -> Contents {
        let (bytes, count) = try read(Int(facts.size), at: 0)
        return Contents(
            bytes: Array(bytes.prefix(count)), facts: facts, modified: modified,
            isSettled: count == Int(facts.size) && isUnchanged)
    }

    /// The next mebibyte at most. One that shrinks keeps the size that it had, with zeros.
    func part(at position: Int64) throws(FileError) -> [UInt8] {
        try read(Int(min(Self.partSize, facts.size - position)), at: position).bytes
    }

    private func read(_ size: Int, at position: Int64) throws(FileError) -> (bytes: [UInt8], count: Int) {
        var bytes = [UInt8](repeating: 0, count: size)
        let result = bytes.withUnsafeMutableBytes { buffer -> Result<Int, FileError> in
            do throws(FileError) { return .success(try file.pread(into: buffer, at: position)) } catch {
                return .failure(error)
            }
        }
        return (bytes, try result.get())
    }
}
