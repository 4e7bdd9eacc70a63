internal import Glibc

/// The system calls of a run that change files, read from the output of `TracedProcess` with paths and contents.
///
/// The traced program makes them on one thread.
package struct RecordedCalls {
    /// One call: its name, its arguments and its result.
    struct Call {
        let name: String
        let arguments: [Argument]
        let result: Int
    }

    /// An argument: its text without strings, and its string.
    struct Argument {
        /// The text before a string or a path in angle brackets.
        let text: String
        /// The bytes of a string.
        let bytes: [UInt8]
        /// The path of a descriptor.
        let path: String

        /// The number; -1 for any other argument.
        var number: Int { Int(text) ?? -1 }
    }

    let calls: [Call]

    /// The number of calls, also of those that change nothing.
    package var count: Int { calls.count }

    /// Reads a log.
    ///
    /// - Throws: `SystemFailure` for a call that changes files and is not known here.
    package init(log: String) throws {
        var calls: [Call] = []
        for line in try SystemFile.read(log).split(separator: UInt8(ascii: "\n")) {
            guard let call = Self.call(line) else { continue }
            if Self.unknown.contains(call.name) { throw SystemFailure("replay \(call.name)", ENOSYS) }
            // strace shortens long contents.
            if ["write", "pwrite64"].contains(call.name), call.arguments[1].bytes.count < call.result {
                throw SystemFailure("replay \(call.name)", EMSGSIZE)
            }
            calls.append(call)
        }
        self.calls = calls
    }

    private static let unknown: Set = [
        "pwritev", "pwritev2", "copy_file_range", "sendfile", "symlinkat", "symlink", "truncate",
    ]

    /// Reads `name(argument, argument) = result`.
    private static func call(_ line: ArraySlice<UInt8>) -> Call? {
        guard let open = line.firstIndex(of: UInt8(ascii: "(")) else { return nil }
        let name = String(decoding: line[..<open], as: UTF8.self)
        guard interesting.contains(name) || unknown.contains(name) else { return nil }
        var (arguments, depth, start, quoted) = ([Argument](), 0, open + 1, false)
        var index = start
        while index < line.endIndex {
            switch line[index] {
            case UInt8(ascii: "\""): quoted.toggle()
            case _ where quoted: break
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "<"), UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")") where depth == 0:
                arguments.append(argument(line[start..<index]))
                return Call(name: name, arguments: arguments, result: result(line[(index + 1)...]))
            case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ">"), UInt8(ascii: ")"): depth -= 1
            case UInt8(ascii: ",") where depth == 0:
                arguments.append(argument(line[start..<index]))
                start = index + 1
            default: break
            }
            index += 1
        }
        return nil
    }

    private static let interesting: Set = [
        "openat", "openat2", "open", "close", "fcntl", "dup", "lseek", "write", "pwrite64", "ftruncate", "fallocate",
        "fsync", "fdatasync", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat", "mkdir",
        "mkdirat",
        "mknod", "mknodat", "rmdir",
    ]

    /// The number after `= `; an injected failure has text behind it.
    private static func result(_ rest: ArraySlice<UInt8>) -> Int {
        let digits = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "=") }
        return Int(String(decoding: digits.prefix { $0 == UInt8(ascii: "-") || (48..<58).contains($0) }, as: UTF8.self))
            ?? -1
    }

    private static func argument(_ bytes: ArraySlice<UInt8>) -> Argument {
        let bytes = bytes.drop { $0 == UInt8(ascii: " ") }
        if bytes.first == UInt8(ascii: "\"") { return Argument(text: "", bytes: decoded(bytes.dropFirst()), path: "") }
        // A structure, of which only the flags matter, has brackets of its own.
        let isPlain = bytes.first != UInt8(ascii: "{")
        let end = isPlain ? bytes.firstIndex(of: UInt8(ascii: "<")) ?? bytes.endIndex : bytes.endIndex
        let path = bytes[end...].dropFirst()
        return Argument(
            text: String(decoding: bytes[..<end], as: UTF8.self), bytes: [],
            path: String(decoding: decoded(path), as: UTF8.self))
    }

    /// Decodes `\x41\x42` up to any other byte.
    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4)
        var index = text.startIndex
        while index + 3 < text.endIndex, text[index] == UInt8(ascii: "\\") {
            bytes.append(digit(text[index + 2]) << 4 | digit(text[index + 3]))
            index += 4
        }
        return bytes
    }

    private static func digit(_ letter: UInt8) -> UInt8 { letter < 58 ? letter - 48 : letter - 87 }
}
