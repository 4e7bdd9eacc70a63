internal import CryptoPrimitives

extension PassphraseCosts {
    /// Costs that take about that long on this machine, as `cryptsetup --iter-time` chooses them: measured, within the
    /// bounds of every slot and within a quarter of the memory that is free now.
    ///
    /// It takes little longer than one try at those costs. Another machine takes its own time for the same slot.
    /// - Throws: `VaultError` `.invalidArgument` for no time at all or more than a minute, `.outOfMemory`.
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

/// Chooses costs from what this machine can do.
struct CostCalibration {
    /// How long one try may take.
    let target: Duration
    /// Memory that is free now, in KiB.
    let freeKiB: UInt64
    /// How long one try takes at given costs.
    let measure: (Argon2id.Parameters) throws(CryptoError) -> Duration

    /// Memory is preferred to passes: it costs whoever guesses with many small cores more.
    private static let preferredPasses: UInt64 = 3

    /// Measures a small try, then the answer, and corrects once: large memory is slower for each KiB.
    func run() throws(CryptoError) -> PassphraseCosts {
        let probe = Argon2id.Parameters(passes: 1, memoryKiB: UInt32(min(maximumKiB, 64 * 1024)))
        let first = costs(for: work(of: probe, in: try measure(probe)))
        let second = costs(for: work(of: first, in: try measure(first)))
        return PassphraseCosts(second)
    }

    /// The pass-KiB that the target has time for at the rate just seen.
    private func work(of costs: Argon2id.Parameters, in time: Duration) -> UInt64 {
        let ratio = target / max(time, .microseconds(1))
        let work = Double(SlotWork(costs).passKiB) * ratio
        return UInt64(min(work, Double(SlotWork.maximum.passKiB)))
    }

    private func costs(for work: UInt64) -> Argon2id.Parameters {
        let (least, most) = (Argon2id.Parameters.minimum, Argon2id.Parameters.maximum)
        // Whole MiB: numbers that a person can read.
        let memory = min(max(work / Self.preferredPasses, UInt64(least.memoryKiB)), maximumKiB) / 1024 * 1024
        let passes = min(max(work / memory, UInt64(least.passes)), UInt64(most.passes))
        return Argon2id.Parameters(passes: UInt32(passes), memoryKiB: UInt32(memory))
    }

    private var maximumKiB: UInt64 {
        min(
            max(freeKiB / 4, UInt64(Argon2id.Parameters.minimum.memoryKiB)),
            UInt64(Argon2id.Parameters.maximum.memoryKiB))
    }

    /// One try on the clock.
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
