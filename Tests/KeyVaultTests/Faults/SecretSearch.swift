import Glibc
import TestSupport

/// A search for secrets in every form that programs may accidentally leave.
struct SecretSearch {
    private typealias Search =
        @convention(c) (
            UnsafeRawPointer, Int, UnsafeRawPointer, Int
        ) -> UnsafeMutableRawPointer?
    /// memmem(3), which Swift's overlay leaves out.
    private static let memmem = unsafeBitCast(dlsym(nil, "memmem"), to: Search.self)

    private struct Needle {
        let name: String
        let bytes: [UInt8]
    }
    private var needles: [Needle] = []

    /// Seconds since 1970. Files with earlier changes do not belong to this test.
    let start: Int

    init() {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        // The clock of a file system may lag.
        start = now.tv_sec - 1
    }

    /// Adds a secret of 24 bytes or more. Either half counts as the whole, because memory is often partly overwritten.
    mutating func add(_ name: String, _ secret: [UInt8]) {
        precondition(secret.count >= 24, "a short secret is found everywhere")
        for (half, bytes) in [("first", secret.prefix(16)), ("last", secret.suffix(16))] {
            let name = "\(name), \(half) half"
            append("\(name), raw", Array(bytes))
            let digits = bytes.flatMap { [$0 >> 4, $0 & 15] }
            append("\(name), hexadecimal", digits.map { Array("0123456789abcdef".utf8)[Int($0)] })
            append("\(name), HEXADECIMAL", digits.map { Array("0123456789ABCDEF".utf8)[Int($0)] })
            append("\(name), UTF-16LE", bytes.flatMap { [$0, 0] })
            append("\(name), UTF-16BE", bytes.flatMap { [0, $0] })
            // The secret may begin anywhere in the encoded data, so the search uses only characters that do not depend
            // on neighbouring bytes.
            for shift in 0..<3 {
                let text = Self.base64([UInt8](repeating: 0, count: shift) + bytes)
                let own = Array(text[(shift * 8 + 5) / 6..<(shift + bytes.count) * 8 / 6])
                append("\(name), base64", own)
                let safe = own.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == 0x2F ? 0x5F : $0 }
                if safe != own { append("\(name), base64url", safe) }
            }
        }
    }

    private mutating func append(_ name: String, _ bytes: [UInt8]) {
        needles.append(Needle(name: name, bytes: bytes))
    }

    private static func base64(_ bytes: [UInt8]) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = (0..<3).reduce(0) { $0 << 8 | (start + $1 < bytes.count ? Int(bytes[start + $1]) : 0) }
            for shift in [18, 12, 6, 0] { text.append(alphabet[group >> shift & 63]) }
        }
        return text
    }

    /// Returns the names of the secrets and forms that the bytes contain.
    func found(in bytes: [UInt8]) -> [String] {
        bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return [] }
            return needles.filter { Self.memmem(base, bytes.count, $0.bytes, $0.bytes.count) != nil }.map(\.name)
        }
    }

    /// Returns the same for any regular file below a directory that was changed since the start, each with the file's
    /// path.
    ///
    /// - Parameter except: Files that contain secrets by design.
    func found(below directory: String, except: Set<String> = []) -> [String] {
        var findings: [String] = []
        for name in (try? SystemFile.names(directory)) ?? [] {
            let path = "\(directory)/\(name)"
            var status = stat()
            // Other programs create and remove files concurrently.
            guard lstat(path, &status) == 0, !except.contains(path) else { continue }
            findings += found(in: Array(name.utf8)).map { "\($0): the name \(path)" }
            switch status.st_mode & S_IFMT {
            case S_IFDIR: findings += found(below: path, except: except)
            case S_IFREG:
                guard status.st_ctim.tv_sec >= start, status.st_size <= 1 << 28,
                    let bytes = try? SystemFile.read(path)
                else { continue }
                findings += found(in: bytes).map { "\($0): \(path)" }
            default: break
            }
        }
        return findings
    }

    /// The directories in which programs leave files without a place of their own.
    static var sharedPlaces: [String] {
        let temporary = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        return Array(Set([temporary, "/tmp", "/var/tmp", "/dev/shm", "/run/user"]))
    }
}
