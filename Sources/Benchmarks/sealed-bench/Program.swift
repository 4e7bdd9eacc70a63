import Glibc

/// This program's own place, and what it reads of others.
enum Program {
    /// The directory that holds it, and sealctl beside it.
    static let directory: String = {
        let path = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            buffer.withMemoryRebound(to: CChar.self) { text in
                guard let start = text.baseAddress else { return }
                count = max(0, readlink("/proc/self/exe", start, text.count))
            }
        }
        let text = String(decoding: path, as: UTF8.self)
        return text.lastIndex(of: "/").map { String(text[..<$0]) } ?? "."
    }()

    /// The beginning of a small text file; empty where there is none.
    static func text(ofFile path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = max(0, read(file, buffer.baseAddress, 4096))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
