internal import CryptoPrimitives
internal import SharedFiles

/// The cost of one try of a passphrase, for its owner and for an attacker: Argon2id's passes and memory (RFC 9106).
public struct PassphraseCosts: Sendable, Hashable, CustomStringConvertible {
    /// Passes over the memory: 2 to 32 when creating, 1 to 32 when reading.
    public var passes: Int { Int(parameters.passes) }
    /// Memory in KiB: 19 MiB to 1 GiB when creating, 8 MiB to 1 GiB when reading.
    public var memoryKiB: Int { Int(parameters.memoryKiB) }
    let parameters: Argon2id.Parameters

    /// 3 passes over 64 MiB: RFC 9106, section 4, second recommended option, with one lane.
    public static let recommended = PassphraseCosts(.recommended)
    /// 2 passes over 19 MiB, the minimum for a new slot, backup or protected file.
    public static let minimum = PassphraseCosts(.minimum)

    init(_ parameters: Argon2id.Parameters) { self.parameters = parameters }

    /// Creates the costs of a new slot, backup or protected file.
    ///
    /// - Parameters:
    ///   - passes: 2 to 32.
    ///   - memoryKiB: 19456 to 1048576.
    /// - Throws: `VaultError` `.invalidArgument` beyond these bounds.
    public init(passes: Int, memoryKiB: Int) throws(VaultError) {
        parameters = Argon2id.Parameters(
            passes: UInt32(clamping: passes), memoryKiB: UInt32(clamping: memoryKiB))
        do throws(CryptoError) { try parameters.validateForCreation() } catch {
            throw VaultError(
                .invalidArgument, "use passphrase costs", "\(passes) passes over \(memoryKiB) KiB",
                "2 to 32 passes over 19456 to 1048576 KiB are accepted.")
        }
    }

    /// Returns the costs of a slot from another program, possibly below ``minimum``; for tests of readers.
    package static func readable(passes: UInt32, memoryKiB: UInt32) -> PassphraseCosts {
        PassphraseCosts(Argon2id.Parameters(passes: passes, memoryKiB: memoryKiB))
    }

    /// Text for users: `3 passes over 64 MiB`.
    public var description: String {
        let memory = memoryKiB % 1024 == 0 ? "\(memoryKiB / 1024) MiB" : "\(memoryKiB) KiB"
        return "\(passes) \(passes == 1 ? "pass" : "passes") over \(memory)"
    }
}

extension PassphraseCosts {
    /// Returns costs that take about the given time on this machine, as `cryptsetup --iter-time` does. They are
    /// measured, and limited to the bounds of every slot and to a quarter of the memory that is free now.
    ///
    /// The calibration takes little longer than one try at those costs. The same slot takes another time on another
    /// machine.
    /// - Throws: `VaultError` `.invalidArgument` for zero or more than a minute, `.outOfMemory`.
    public static func calibrated(for duration: Duration) throws(VaultError) -> PassphraseCosts {
        guard duration > .zero, duration <= .seconds(60) else {
            throw VaultError(
                .invalidArgument, "calibrate passphrase costs for", "\(duration)", "More than 0, at most 60 seconds.")
        }
        do throws(CryptoError) {
            return try CostCalibration(target: duration, freeKiB: FreeMemory.kibibytes(), measure: CostCalibration.time)
                .run()
        } catch {
            throw VaultError(.outOfMemory, "calibrate passphrase costs for", "\(duration)", "\(error).")
        }
    }
}

/// Chooses costs from this machine's speed and memory.
struct CostCalibration {
    /// The longest duration of one try.
    let target: Duration
    /// Memory that is free now, in KiB.
    let freeKiB: UInt64
    /// Measures the duration of one try at given costs.
    let measure: (Argon2id.Parameters) throws(CryptoError) -> Duration

    /// Memory is preferred to passes, because it costs an attacker with many small cores more.
    private static let preferredPasses: UInt64 = 3

    /// Measures a small try, then the answer, and corrects once: large memory is slower per KiB.
    func run() throws(CryptoError) -> PassphraseCosts {
        let probe = Argon2id.Parameters(passes: 1, memoryKiB: UInt32(min(maximumKiB, 64 * 1024)))
        let first = costs(for: work(of: probe, in: try measure(probe)))
        let second = costs(for: work(of: first, in: try measure(first)))
        return PassphraseCosts(second)
    }

    /// Returns the pass-KiB that fit into the target at the measured rate.
    private func work(of costs: Argon2id.Parameters, in time: Duration) -> UInt64 {
        let ratio = target / max(time, .microseconds(1))
        let work = Double(SlotWork(costs).passKiB) * ratio
        return UInt64(min(work, Double(SlotWork.maximum.passKiB)))
    }

    private func costs(for work: UInt64) -> Argon2id.Parameters {
        let (least, most) = (Argon2id.Parameters.minimum, Argon2id.Parameters.maximum)
        // Whole MiB, for readability.
        let memory = min(max(work / Self.preferredPasses, UInt64(least.memoryKiB)), maximumKiB) / 1024 * 1024
        let passes = min(max(work / memory, UInt64(least.passes)), UInt64(most.passes))
        return Argon2id.Parameters(passes: UInt32(passes), memoryKiB: UInt32(memory))
    }

    private var maximumKiB: UInt64 {
        min(
            max(freeKiB / 4, UInt64(Argon2id.Parameters.minimum.memoryKiB)),
            UInt64(Argon2id.Parameters.maximum.memoryKiB))
    }

    /// Measures one try.
    static func time(_ costs: Argon2id.Parameters) throws(CryptoError) -> Duration {
        let passphrase = SecretBytes(count: 16) { _ in }
        let salt = [UInt8](repeating: 0, count: Argon2id.saltSize)
        let start = ContinuousClock.now
        _ = try salt.withRawBytes { salt throws(CryptoError) in
            try Argon2id.deriveKey(passphrase: passphrase, salt: salt, parameters: costs, count: 32)
        }
        return ContinuousClock.now - start
    }
}

/// The memory that a program can take now without displacing others.
enum FreeMemory {
    /// Returns the available memory of the machine, or a control group's lower limit, in KiB; 1 GiB if neither is
    /// known.
    static func kibibytes() -> UInt64 {
        let machine = text("/proc/meminfo").flatMap(available(in:)) ?? 1024 * 1024
        return controlGroups().reduce(machine) { least, path in
            guard let limit = number("\(path)/memory.max"), let used = number("\(path)/memory.current") else {
                return least
            }
            return min(least, (limit > used ? limit - used : 0) / 1024)
        }
    }

    /// `MemAvailable` of proc_meminfo(5).
    static func available(in meminfo: String) -> UInt64? {
        for line in meminfo.split(separator: "\n") where line.hasPrefix("MemAvailable:") {
            return line.split(separator: " ").dropFirst().first.flatMap { UInt64($0) }
        }
        return nil
    }

    /// Returns the directories of this process's control group (version 2) and its ancestors, each with limits of its
    /// own.
    private static func controlGroups() -> [String] {
        let root = "/sys/fs/cgroup"
        guard let groups = text("/proc/self/cgroup"),
            let own = groups.split(separator: "\n").first(where: { $0.hasPrefix("0::/") })
        else { return [root] }
        var paths = [root]
        for part in own.dropFirst(4).split(separator: "/") { paths.append("\(paths[paths.count - 1])/\(part)") }
        return paths
    }

    /// Reads a file that contains one number; returns `nil` for `max` and for a missing file.
    private static func number(_ path: String) -> UInt64? {
        text(path).flatMap { $0.split(separator: "\n").first }.flatMap { UInt64($0) }
    }

    private static func text(_ path: String) -> String? {
        guard let descriptor = try? Descriptor.openForReading(path: path) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 64 * 1024)
        let count = bytes.withUnsafeMutableBytes { (try? descriptor.read(into: $0)) ?? 0 }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
