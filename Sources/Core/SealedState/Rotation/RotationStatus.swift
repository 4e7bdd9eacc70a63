public import FoundationEssentials
public import KeyVault
internal import Sealing

/// Where a group's keys stand: which blobs and programs hold which epoch.
public struct RotationStatus: Sendable {
    /// Whether a rotation has begun and is not completed.
    public let isRotating: Bool
    /// When the last rotation began; nil for never.
    public let began: Date?
    /// When the last completed rotation was completed; nil for never.
    public let completed: Date?
    /// The epoch of the active key of *after first unlock*; nil where there is none.
    public let activeEpoch: UInt32?
    /// Blobs of *after first unlock* of an earlier epoch are refused.
    public let minimumEpoch: UInt32
    /// Every key that the vault holds or held, by epoch.
    public let keys: [KeyUse]
    /// Files that are, or may be, sealed blobs of the group and whose key cannot be told, by path; of containers in the trash
    /// by the whole path.
    public let unknown: [LeftBlob]
}

/// A sealing key and what needs it.
public struct KeyUse: Sendable {
    /// A key's state in its life.
    public enum State: String, Sendable {
        /// Blobs are sealed under it.
        case active
        /// It opens only.
        case decryptOnly
        /// Its bytes are gone.
        case destroyed
    }

    /// 32 hexadecimal digits.
    public let id: String
    /// The epoch of the blobs that it seals.
    public let epoch: UInt32
    /// When it can be reached.
    public let protection: ProtectionClass
    /// Whether it seals, opens or is gone.
    public let state: State
    /// When it was made.
    public let created: Date
    /// How many blobs in the container are sealed under it, as their verified headers say; quarantine does not count.
    public let blobCount: Int
    /// Where they lie, below the container: the first of them, at most `listedBlobs`.
    public let blobs: [String]
    /// Programs that have the vault open and have not noticed yet that a newer key is active, as far as this user may see.
    /// Of the active key: the programs that have the vault open.
    public let holders: [EpochHolder]
    /// What speaks against destroying it; empty for one that may go.
    public let obstacles: [KeyObstacle]

    /// How many blobs are listed by name.
    public static let listedBlobs = 1000

    /// Whether nothing needs it, as far as the container and this machine show.
    public var mayBeDestroyed: Bool { state == .decryptOnly && obstacles.isEmpty }
}

/// Why a key must not be destroyed.
public enum KeyObstacle: Sendable, Hashable, CustomStringConvertible {
    /// It is the key that blobs are sealed under.
    case active
    /// No completed rotation has ended its epoch: somebody may still be writing under it.
    case rotationNotCompleted
    /// Blobs in the container are sealed under it: those in use, or copies of refused ones that quarantine keeps.
    case blobs(Int, isInQuarantine: Bool = false)
    /// Blobs in containers of the group that lie in the trash are sealed under it: who restores one needs it.
    case trashed(Int)
    /// Blobs in the container, quarantine and the trash included, claim to be sealed under it, and whether they are cannot be known while
    /// the vault is locked.
    case lockedBlobs(Int)
    /// Running programs would still seal under it.
    case programs([EpochHolder])
    /// A running program would still seal under it, and which one this user may not see.
    case unnamedProgram
    /// Whether programs hold it cannot be found out.
    case programsUnknown
    /// Files that cannot be looked at may be sealed under it.
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
        case .unnamedProgram: "A program that would seal under it is running; another user may see which."
        case .programsUnknown: "Whether running programs hold it cannot be found out."
        case .unknownFiles(let count):
            "\(count) \(count == 1 ? "file" : "files") could not be looked at and may be sealed under it."
        }
    }

    private static func text(_ holder: EpochHolder) -> String {
        "\(holder.pid) (\(holder.executable.isEmpty ? "?" : holder.executable.printable))"
    }
}
