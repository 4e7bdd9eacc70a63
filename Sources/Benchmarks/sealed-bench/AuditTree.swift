import FoundationEssentials
import Glibc

/// A directory of files that are all alike in kind and all different in content; removed at the end.
final class AuditTree {
    let path: String
    private(set) var bytes = 0
    private var random = SystemRandomNumberGenerator()

    init(in parent: String) throws {
        path = "\(parent)/sealed-bench.\(getpid()).tree"
        try? FileManager.default.removeItem(atPath: path)
        guard mkdir(path, 0o700) == 0 else {
            throw BenchmarkFailure("no directory can be made in \(parent): \(String(cString: strerror(errno)))")
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes so many files with so many bytes together; a thousand to a directory.
    func fill(files: Int, bytes total: Int, line: (UInt64) -> String) throws {
        let size = total / files
        for index in 0..<files {
            let directory = "\(path)/\(index / 1000)"
            if index % 1000 == 0 { mkdir(directory, 0o700) }
            try write("\(directory)/file\(index).txt", size: size, line: line)
        }
    }

    private func write(_ path: String, size: Int, line: (UInt64) -> String) throws {
        var text: [UInt8] = []
        text.reserveCapacity(size + 200)
        while text.count < size { text.append(contentsOf: line(random.next()).utf8) }
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0, Glibc.write(file, text, text.count) == text.count else {
            throw BenchmarkFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        close(file)
        bytes += text.count
    }

    /// What programs write down all day: requests, settings, prose.
    static func harmlessLine(_ number: UInt64) -> String {
        switch number % 4 {
        case 0:
            "2026-11-21T10:00:\(number % 60)Z INFO request \(number) took \(number % 900) ms for user \(number >> 40)\n"
        case 1: "the widget of account \(number >> 32) shows \(number % 7) appointments and the weather of tomorrow\n"
        case 2: "window.width = \(number % 2000)\nwindow.height = \(number >> 52)\ntheme = dark\n"
        default: "let frame = CGRect(x: \(number % 400), y: \(number >> 50), width: 320, height: 44)\n"
        }
    }

    /// A line with one secret, each its own.
    static func secretLine(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return
            "service\(number % 1000).password = \"\(String(number &* 0x9E37_79B9_7F4A_7C15, radix: 36))Q\(digits)\"\n"
    }
}
