public import FoundationEssentials
public import KeyVault
internal import Sealing

/// The state of a group's keys: the blobs and programs that use each epoch.
public struct RotationStatus: Sendable {
    /// A rotation has begun and is not completed.
    public let isRotating: Bool
    /// The time at which the last rotation began; nil for never.
    public let began: Date?
    /// The time at which the last completed rotation was completed; nil for never.
    public let completed: Date?
    /// The epoch of the active key of *after first unlock*; nil without an active key.
    public let activeEpoch: UInt32?
    /// Blobs of *after first unlock* of an earlier epoch are refused.
    public let minimumEpoch: UInt32
    /// Every key that the vault holds or held, by epoch.
    public let keys: [KeyUse]
    /// Files that are, or may be, sealed blobs of the group and whose key is unknown, by path; for containers in the
    /// trash by the whole path.
    public let unknown: [SkippedBlob]
}

/// A sealing key and its uses.
public struct KeyUse: Sendable {
    /// The state of a key in its life cycle.
    public enum State: String, Sendable {
        /// Blobs are sealed under it.
        case active
        /// The key only opens blobs.
        case decryptOnly
        /// The key's bytes were destroyed.
        case destroyed
    }

    /// 32 hexadecimal digits.
    public let id: String
    /// The epoch of the blobs that it seals.
    public let epoch: UInt32
    /// The class of the key.
    public let protection: ProtectionClass
    /// The key seals, opens or was destroyed.
    public let state: State
    /// The time of creation.
    public let created: Date
    /// The number of blobs in the container sealed under it, by their verified headers; quarantine does not count.
    public let blobCount: Int
    /// The paths of those blobs below the container: the first ones, at most `listedBlobs`.
    public let blobs: [String]
    /// Programs that have the vault open and have not yet noticed that a newer key is active, as far as this user may
    /// see. For the active key: the programs that have the vault open.
    public let holders: [EpochHolder]
    /// The reasons against destroying it; empty if it may be destroyed.
    public let obstacles: [KeyObstacle]

    /// The maximum number of listed blobs.
    public static let listedBlobs = 1000

    /// The key is not needed, as far as the container and this machine show.
    public var mayBeDestroyed: Bool { state == .decryptOnly && obstacles.isEmpty }
}

/// The reason why a key must not be destroyed.
public enum KeyObstacle: Sendable, Hashable, CustomStringConvertible {
    /// New blobs are sealed under the key.
    case active
    /// No completed rotation has ended its epoch: a program may still be writing under it.
    case rotationNotCompleted
    /// Blobs in the container are sealed under it: those in use, or copies of refused ones that quarantine keeps.
    case blobs(Int, isInQuarantine: Bool = false)
    /// Blobs in the group's containers in the trash are sealed under it: restoring one requires it.
    case trashed(Int)
    /// Blobs in the container, quarantine and the trash included, claim to be sealed under it, which cannot be verified
    /// while the vault is locked.
    case lockedBlobs(Int)
    /// Running programs would still seal under it.
    case programs([EpochHolder])
    /// A running program would still seal under it; this user may not see which one.
    case unnamedProgram
    /// The programs that hold it cannot be determined.
    case programsUnknown
    /// Files that cannot be read may be sealed under it.
    case unknownFiles(Int)

    /// The reason as a sentence.
    public var description: String {
        switch self {
        case .active: "It is the active key."
        case .rotationNotCompleted: "No rotation has been completed since it was active."
        case .blobs(let count, isInQuarantine: false):
            "\(count) \(count == 1 ? "blob is" : "blobs are") sealed under it."
        case .blobs(let count, isInQuarantine: true):
            "\(count) \(count == 1 ? "copy" : "copies") in quarantine \(count == 1 ? "is" : "are") sealed under it."
        case .trashed(let count):
            "\(count) \(count == 1 ? "blob" : "blobs") in the trash \(count == 1 ? "is" : "are") sealed under it."
        case .lockedBlobs(let count):
            "\(count) \(count == 1 ? "blob" : "blobs") may be sealed under it; unlock the vault to know."
        case .programs(let holders):
            "Programs that would seal under it are running: \(holders.map(Self.text).joined(separator: ", "))."
        case .unnamedProgram: "A program that would seal under it is running; another user may be able to see which."
        case .programsUnknown: "It is not known whether running programs hold it."
        case .unknownFiles(let count):
            "\(count) \(count == 1 ? "file" : "files") could not be examined and may be sealed under it."
        }
    }

    private static func text(_ holder: EpochHolder) -> String {
        "\(holder.pid) (\(holder.executable.isEmpty ? "?" : holder.executable.printable))"
    }
}
