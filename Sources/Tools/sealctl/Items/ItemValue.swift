internal import CryptoPrimitives
internal import KeyVault
internal import SharedFiles

/// An item's value on its way into a vault, in guarded memory.
struct ItemValue: ~Copyable {
    /// The largest value that a vault takes, in bytes.
    static let limit = ItemLimits.standard.valueSize

    private let room: SecretBytes
    /// The value's size in bytes; one more than the limit stands for anything larger.
    let count: Int

    /// All of a secret.
    init(_ secret: consuming SecretBytes) {
        count = secret.count
        room = secret
    }

    /// Everything from here to the end of the input, straight into the guarded memory.
    init(contentsOf input: InputFile) throws(Failure) {
        // A file of the kernel's claims to be empty.
        let expected = input.extent.map { $0.count > 0 ? Int(clamping: $0.count) : Self.limit } ?? Self.limit
        var filled = 0
        let read = try SecretBytes(count: min(expected, Self.limit) + 1) { buffer throws(Failure) in
            try Failure.onFiles { () throws(FileError) in
                while filled < buffer.count {
                    let more = try input.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
                    if more == 0 { return }
                    filled += more
                }
            }
            // A file that grows while it is read has no one value.
            guard filled <= expected || expected >= Self.limit else {
                throw Failure(
                    .temporary, "changedMeanwhile", "\(input.name) changed while it was read", hint: "Try again.")
            }
        }
        room = read
        count = filled
    }

    /// The first line without its end; what is behind it stays in the input.
    init(firstLineOf input: InputFile) throws(Failure) {
        let line = try SecretLine.read(limit: Self.limit) { byte throws(Failure) in
            try Failure.onFiles { () throws(FileError) in try input.read(into: byte) == 1 }
        }
        self.init(line.take())
    }

    /// Lends the value.
    borrowing func withBytes<Result: ~Copyable>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try room.withUnsafeBytes { room throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: room[..<count]))
        }
    }
}
