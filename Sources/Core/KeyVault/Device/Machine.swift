internal import CryptoPrimitives
internal import Glibc
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// The time of day, for displayed dates that never decide anything.
enum WallClock {
    /// Milliseconds since 1970.
    static func milliseconds() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return UInt64(max(0, now.tv_sec)) * 1000 + UInt64(now.tv_nsec) / 1_000_000
    }
}

/// The time since the machine started, including sleep. It cannot be set, and a sleeping machine does not stay
/// unlocked.
package enum BootClock {
    /// Milliseconds, `CLOCK_BOOTTIME` of clock_gettime(2).
    package static func milliseconds() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_BOOTTIME, &now)
        return UInt64(now.tv_sec) * 1000 + UInt64(now.tv_nsec) / 1_000_000
    }
}

/// The identity of one start of the machine: random(4), `/proc/sys/kernel/random/boot_id`.
package struct BootID: Hashable, Sendable {
    let bytes: Bytes16

    /// This boot's id; `unknown` if the kernel does not provide it.
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

    /// Returns whether both are certainly the same start. Two unknown ones are not: a state recorded under one counts
    /// as recorded before a restart, which is the weaker claim and never false.
    func isSame(as other: BootID) -> Bool { self == other && self != .unknown }

    /// Reads 32 hexadecimal digits, with hyphens at any place.
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

/// The offset between the wall clock at one moment and the time since the machine started.
///
/// The time since the start cannot be set. The anchor plus this time is the wall clock's present value if the clock had
/// not been set since. So setting the clock back makes no value younger before the next restart.
package struct ClockAnchor: Hashable, Sendable, Comparable {
    /// Wall clock minus `CLOCK_BOOTTIME`, in milliseconds; 0 means unknown.
    let milliseconds: Int64

    /// An unknown offset.
    package static let unknown = ClockAnchor(milliseconds: 0)

    init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Creates the anchor of a wall clock that now shows `seconds` since 1970, rounded so that it is never ahead of
    /// that clock.
    package init(atMost seconds: Double) { self.init(seconds, .down, correction: -1) }

    /// Creates the same anchor, rounded so that it is never behind that clock.
    package init(atLeast seconds: Double) { self.init(seconds, .up, correction: 0) }

    /// The range that a header can store, far beyond real clocks; a clock that shows no number gives an unknown anchor.
    private static let range = -9e15...9e15

    private init(_ seconds: Double, _ rule: FloatingPointRoundingRule, correction: Int64) {
        let wall = (seconds * 1000).rounded(rule)
        guard wall.isFinite else {
            self = .unknown
            return
        }
        let clamped = Int64(min(max(wall, Self.range.lowerBound), Self.range.upperBound))
        let anchor = clamped - Int64(BootClock.milliseconds()) + correction
        milliseconds = anchor == 0 ? 1 + 2 * correction : anchor
    }

    package var isKnown: Bool { self != .unknown }

    /// The present value of that clock in seconds since 1970; `nil` if unknown.
    package var now: Double? {
        guard isKnown else { return nil }
        return (Double(milliseconds) + Double(BootClock.milliseconds())) / 1000
    }

    /// Compares anchors: the later clock is the greater anchor, and an unknown one is less than all others.
    package static func < (first: ClockAnchor, second: ClockAnchor) -> Bool {
        guard first.isKnown, second.isKnown else { return !first.isKnown && second.isKnown }
        return first.milliseconds < second.milliseconds
    }
}

/// Signals once a second that another look at the files is due; a check costs a few nanoseconds.
final class RefreshThrottle: Sendable {
    private static let interval: UInt64 = 1_000_000_000
    private let last = Atomic<UInt64>(RefreshThrottle.now())

    /// Returns whether a second has passed since it last returned `true`.
    func isDue() -> Bool {
        let now = Self.now()
        let then = last.load(ordering: .relaxed)
        guard now &- then >= Self.interval else { return false }
        return last.compareExchange(expected: then, desired: now, ordering: .relaxed).exchanged
    }

    private static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

extension Personalization {
    /// The tag of a machine (no key); `docs/spec/vault.md` lists it.
    static let machineIdentity = Personalization("SealedState.mid1")
}

/// The identity of this installation, for values that must not be usable on another machine.
///
/// It is a hash of `/etc/machine-id`, because machine-id(5) asks not to expose the id itself. It protects against
/// accidents, such as a restored backup, not against thieves: every program on the machine can read the id.
struct MachineIdentity: Hashable, Sendable {
    static let size = 16
    static let path = "/etc/machine-id"
    private static let idSize = 32

    /// 16 bytes that differ between machines. They are never shown.
    let tag: [UInt8]

    /// Reads the machine's id.
    ///
    /// - Throws: `VaultError` `.noMachineIdentity` without an id: in an image that has never started, or a container.
    static func read(path: String = path) throws(VaultError) -> MachineIdentity {
        let text = try contents(path)
        let id = text.last == UInt8(ascii: "\n") ? text.dropLast() : text[...]
        guard id.count == idSize, id.allSatisfy(\.isLowerHexDigit), id.contains(where: { $0 != UInt8(ascii: "0") })
        else {
            throw .noMachineIdentity(path, "It does not consist of 32 hexadecimal digits.")
        }
        return MachineIdentity(
            tag: BLAKE2b.hash(Array(id), personalization: .machineIdentity, count: size))
    }

    /// Reads only enough of a longer file to show that it is too long.
    private static func contents(_ path: String) throws(VaultError) -> [UInt8] {
        var failure: FileError?
        let text = [UInt8](unsafeUninitializedCapacity: idSize + 2) { buffer, count in
            let space = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: idSize + 2)
            do throws(FileError) {
                count = try Descriptor.openForReading(path: path).read(into: space)
            } catch {
                failure = error
            }
        }
        if let failure { throw .noMachineIdentity(path, failure.sentence) }
        return text
    }
}

extension VaultError.Code {
    /// This machine has no id to bind a value to.
    public static let noMachineIdentity = VaultError.Code(rawValue: "noMachineIdentity")
}

extension VaultError {
    fileprivate static func noMachineIdentity(_ path: String, _ reason: String) -> VaultError {
        VaultError(
            .noMachineIdentity, "bind an item to this machine by", path, reason,
            advice:
                "Set a machine id with systemd-machine-id-setup, or choose an accessibility without ThisDeviceOnly."
        )
    }
}
