public import SealedBackends
internal import SharedFiles

/// The promises of `SealedBackend`, each as a check that a backend passes or fails.
///
/// ```swift
/// @Test(arguments: BackendCheck.allCases) func keepsItsPromises(check: BackendCheck) throws {
///     try check.run(on: BackendSubject { try MyBackend(in: emptyDirectory()) })
/// }
/// ```
public enum BackendCheck: String, CaseIterable, Sendable {
    /// Committed blobs are read, listed and replaced whole, in a random order of calls.
    case model
    /// Conditions hold or nothing is written.
    case conditions
    /// Of several writers with one condition exactly one wins, and no reader sees parts of two blobs.
    case races
    /// A batch is made whole or not at all, and readers see all of it or nothing.
    case batches
    /// Sizes and limits: empty blobs, fragments of a header, the largest blob.
    case sizes
    /// Names at their limits; names that differ in one byte.
    case names
    /// Pages of a list, in the order of the names' bytes.
    case scans
    /// Bytes that no program has sealed.
    case hostileBytes
    /// A held blob is current until it is replaced or removed.
    case heldBlobs
    /// Every change is notified and reported, and a read after the report sees it.
    case changes
    /// A position continues, or everything may have changed: also a position that a loss of power has undone.
    case cursors
    /// Changes of data that were removed or replaced end with an error.
    case removal
    /// An outcome that was unknown is decided.
    case settling
    /// A copy for diagnosis is kept once, and is no record.
    case preservation
    /// A durable write survives a loss of power.
    case powerLoss
    /// The calls of many programs on a record have one order, which agrees with the times of the calls.
    case soak

    /// Runs the check on a new backend.
    ///
    /// - Parameters:
    ///   - subject: Makes the backend.
    ///   - seed: Decides names, contents and the order of calls; random unless stated.
    /// - Returns: `.notTested` with the reason if the subject cannot be tested for it.
    /// - Throws: `BackendFault` with the seed.
    @discardableResult
    public func run(on subject: BackendSubject, seed: UInt64? = nil) throws(BackendFault) -> Outcome {
        let seed = seed ?? UInt64.random(in: .min ... .max)
        do {
            var run = try BackendRun(subject, seed: seed)
            return try run.perform(self)
        } catch {
            throw (error as? BackendFault)?.of(self, seed) ?? BackendFault(self, seed, "It threw an error: \(error)")
        }
    }

    /// The outcome of a check that found no fault.
    public enum Outcome: Sendable, Hashable {
        /// The promise was kept.
        case passed
        /// The subject cannot be tested for it.
        case notTested(String)
    }
}

/// A broken promise of a backend.
public struct BackendFault: Error, Sendable, CustomStringConvertible {
    /// The promise.
    public private(set) var check: BackendCheck?
    /// The seed that shows the fault again.
    public private(set) var seed: UInt64
    /// The finding.
    public let reason: String

    init(_ check: BackendCheck? = nil, _ seed: UInt64 = 0, _ reason: String) {
        self.check = check
        self.seed = seed
        self.reason = reason
    }

    func of(_ check: BackendCheck, _ seed: UInt64) -> BackendFault { BackendFault(check, seed, reason) }

    /// The promise, the finding and the seed in one line.
    public var description: String { "\(check?.rawValue ?? "backend"): \(reason) (seed \(seed))" }
}

/// Makes the backends of a conformance test.
public struct BackendSubject: Sendable {
    /// Makes an empty backend.
    let make: @Sendable () throws -> any SealedBackend
    /// Opens the same data once more, as another process does.
    var reopen: (@Sendable (any SealedBackend) throws -> any SealedBackend)?
    /// Loses what is not durable, and opens the rest.
    var losePower: (@Sendable (any SealedBackend) throws -> any SealedBackend)?
    /// Removes the data, or puts others in their place.
    var removeData: (@Sendable (any SealedBackend) throws -> Void)?
    /// Excludes other writers of a record, for a backend that does not compare conditions.
    var exclude: (@Sendable (BackendKey, () throws -> Void) throws -> Void)?
    /// The duration of `BackendCheck.soak`.
    var soakDuration: Duration

    /// Creates a subject.
    ///
    /// - Parameters:
    ///   - reopen: Opens the same data once more, as another process does. The same instance serves both unless stated.
    ///   - losePower: Loses what is not durable, and opens the rest. Without it `powerLoss` is not tested.
    ///   - removeData: Removes the data, or puts others in their place. Without it `removal` is not tested.
    ///   - exclude: Runs a change while no other program writes the record: for a backend that relies on the records'
    ///     locks (`BackendTraits.comparesConditions`). Without it `races` and `soak` are not tested on such a backend.
    ///   - soakDuration: The duration of `soak`.
    ///   - make: Makes an empty backend: another one for each call.
    public init(
        reopen: (@Sendable (any SealedBackend) throws -> any SealedBackend)? = nil,
        losePower: (@Sendable (any SealedBackend) throws -> any SealedBackend)? = nil,
        removeData: (@Sendable (any SealedBackend) throws -> Void)? = nil,
        exclude: (@Sendable (BackendKey, () throws -> Void) throws -> Void)? = nil,
        soakDuration: Duration = .seconds(2),
        make: @escaping @Sendable () throws -> any SealedBackend
    ) {
        self.make = make
        self.reopen = reopen
        self.losePower = losePower
        self.removeData = removeData
        self.exclude = exclude
        self.soakDuration = soakDuration
    }
}

/// The generator SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
