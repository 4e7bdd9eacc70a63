internal import Sealing
internal import SharedFiles

/// Which start of the machine this is: random(4), `/proc/sys/kernel/random/boot_id`.
package struct BootID: Hashable, Sendable {
    let bytes: Bytes16

    /// This boot's id; `unknown` where the kernel does not tell.
    package static let current: BootID = {
        guard let file = try? Descriptor.openForReading(path: "/proc/sys/kernel/random/boot_id") else {
            return .unknown
        }
        return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            guard let count = try? file.read(into: buffer) else { return .unknown }
            return BootID(text: buffer[0..<count])
        }
    }()

    static let unknown = BootID(bytes: .zero)

    init(bytes: Bytes16) { self.bytes = bytes }

    /// 32 hexadecimal digits.
    package var text: String { bytes.hexadecimal }

    /// Whether both are surely the same start. Two unknown ones are not: what was noted under one counts as noted before
    /// a restart, which is the weaker claim and never a false one.
    func isSame(as other: BootID) -> Bool { self == other && self != .unknown }

    /// Reads 32 hexadecimal digits, with hyphens wherever they stand.
    private init(text: some Sequence<UInt8>) {
        let digits = text.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }.map(UInt8.init)
        guard digits.count == 32 else {
            self = .unknown
            return
        }
        bytes = Bytes16(filling: { output in
            for index in 0..<16 { output[index] = digits[2 * index] << 4 | digits[2 * index + 1] }
        })
    }
}
