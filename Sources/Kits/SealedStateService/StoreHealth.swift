internal import AppGroups
public import FoundationEssentials
public import KeyVault
public import SealedState

/// How a store is, for a health check.
///
/// No record is read, nothing is made or written, and no password is hashed. Asking costs some hundred calls of the system:
/// the container's way is checked, and the vault's front part opened with what is at hand. Fit for every few seconds, not
/// for every request. It blocks while files are read.
public struct StoreHealth: Sendable, CustomStringConvertible {
    /// What has the container's place.
    public enum Container: Sendable, Hashable {
        /// The one that the store has open.
        case present
        /// Another one, which can be used: watches have gone on to it; for everything else open the store again.
        case replaced
        /// Nothing.
        case missing
        /// Something that cannot be used, for that reason.
        case unusable(String)
    }

    /// What a watcher does.
    public enum Watching: Sendable, Hashable {
        /// It was not started yet.
        case notBegun
        /// It runs.
        case running
        /// It ran, and was shut down or cancelled.
        case ended
        /// It could not begin, or its handler threw.
        case failed
    }

    /// What has the container's place.
    public let container: Container
    /// Whether the vault could be opened now; nil when that cannot be told. An open store goes on with a locked one.
    public let vault: VaultAvailability?
    /// What is known of the file that remembers accepted states.
    public let watermarks: WatermarkCondition
    /// What the watcher does; nil where none was asked.
    public internal(set) var watching: Watching?
    /// When a watcher was last told a state; nil before the first one, and where nothing is watched.
    public internal(set) var lastUpdate: Date?
    /// Why what lies in the watched record's place is refused; nil where it is not.
    public internal(set) var lastRejection: StoreError?

    /// Whether nothing is wrong that a person should mend.
    ///
    /// An absent or stale record, a vault that waits for its user, and a watcher that was not started yet are nothing wrong;
    /// one that does not run any more is.
    public var isHealthy: Bool {
        guard watching != .ended, watching != .failed else { return false }
        guard container == .present, vault == .ready || vault == .locked else { return false }
        switch watermarks {
        case .firstContact, .intact: break
        default: return false
        }
        return lastRejection.map { [.stale, .locked].contains($0.code) } ?? true
    }

    /// One line for a log or a status page.
    public var description: String {
        let rejection = lastRejection.map { ", rejection \($0.code.rawValue)" } ?? ""
        let watching = watching.map { ", watching \($0)" } ?? ""
        return "\(isHealthy ? "healthy" : "unhealthy"): container \(container), vault \(vault?.rawValue ?? "unknown"), "
            + "watermarks \(watermarks)\(watching)\(rejection)"
    }
}

extension SealedStore {
    /// How the store is now; see ``StoreHealth`` for what asking costs.
    public var health: StoreHealth {
        StoreHealth(
            container: containerHealth, vault: try? Vault.availability(AccessGroup(group), in: home),
            watermarks: watermarkCondition)
    }

    private var containerHealth: StoreHealth.Container {
        do throws(StoreError) {
            return try following() === self ? .present : .replaced
        } catch {
            return error.code == .containerMissing ? .missing : .unusable(error.reason)
        }
    }
}
