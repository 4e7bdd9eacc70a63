internal import CryptoPrimitives
internal import SealedState
internal import SharedFiles

/// Where an item's value goes: byte for byte, and nothing that could drive a terminal to one.
struct ValueOutput {
    private let target: OutputFile

    /// - Parameter path: A new file's (mode 0600), a pipe's or a device's; nil or `-` is standard output.
    init(_ path: String?) throws(Failure) { target = try OutputFile(path, mode: 0o600) }

    func write(_ value: UnsafeRawBufferPointer) throws(Failure) {
        if target.isGuardedTerminal, !Self.isText(value) {
            throw Failure(
                .usage, "binaryToTerminal", "the value is binary data, which is nothing for a terminal",
                hint: "Try -o FILE, or -o - if you mean it.")
        }
        do throws(FileError) {
            try target.write(value)
            // A prompt would stand behind the last character; a pipe gets the exact bytes.
            if target.isGuardedTerminal, value.last != 0x0A {
                try [0x0A].withRawBytes { end throws(FileError) in try target.write(end) }
            }
        } catch { throw Failure(error, .output) }
        try target.commit()
    }

    /// Whether these bytes are UTF-8 without control characters but tab and line ends.
    static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes[...]
        while let byte = rest.first {
            if byte < 0x80 {
                guard (byte >= 0x20 && byte != 0x7F) || byte == 0x09 || byte == 0x0A || byte == 0x0D else {
                    return false
                }
                rest = rest.dropFirst()
            } else {
                guard let length = UTF8Sequence.length(in: rest), !isControl(rest) else { return false }
                rest = rest.dropFirst(length)
            }
        }
        return true
    }

    /// U+0080 to U+009F, which some terminals obey.
    private static func isControl(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        bytes.first == 0xC2 && bytes.dropFirst().first.map { $0 < 0xA0 } ?? false
    }
}
