internal import AppGroups
public import FoundationEssentials
public import KeyVault
public import SealedState

/// The state of a store, for a health check.
///
/// A check reads no record, creates and writes nothing, and hashes no password. It makes some hundred system calls: it
/// verifies the container's path, and opens the vault's front part with the available keys. This is suitable for every
/// few seconds, but not for every request. The call blocks while files are read.
public struct StoreHealth: Sendable, CustomStringConvertible {
    /// The state of the container's path.
    public enum Container: Sendable, Hashable {
        /// The group's container is present, whether or not the store has followed to it already.
        case present
        /// The container is missing.
        case missing
        /// The container is not usable, for the given reason.
        case unusable(String)
    }

    /// The state of a watcher.
    public enum Watching: Sendable, Hashable {
        /// The watcher was not started yet.
        case notBegun
        /// The watcher is running.
        case running
        /// The watcher was shut down or cancelled.
        case ended
        /// The watcher could not begin, or its handler threw.
        case failed
    }

    /// The state of the container's path.
    public let container: Container
    /// The vault's current availability, or `nil` if it cannot be determined. An open store continues to work with a
    /// locked vault.
    public let vault: VaultAvailability?
    /// The state of the watermark file, which records accepted states.
    public let watermarks: WatermarkCondition
    /// The watcher's state, or `nil` without a watcher.
    public internal(set) var watching: Watching?
    /// The time of the watcher's last update, or `nil` before the first one or without a watcher.
    public internal(set) var lastUpdate: Date?
    /// The error that refuses the watched record's current file, or `nil` if the file is accepted.
    public internal(set) var lastRejection: StoreError?

    /// True if no fault requires attention.
    ///
    /// An absent or stale record, a vault that waits for its user, and a watcher that was not started yet are not
    /// faults. A watcher that has ended is one.
    public var isHealthy: Bool {
        guard watching != .ended, watching != .failed else { return false }
        guard container == .present, vault == .ready || vault == .locked else { return false }
        switch watermarks {
        case .firstContact, .intact: break
        default: return false
        }
        return lastRejection.map { [.stale, .locked].contains($0.code) } ?? true
    }

    /// The health as one line for a log or a status page.
    public var description: String {
        let rejection = lastRejection.map { ", rejection \($0.code.rawValue)" } ?? ""
        let watching = watching.map { ", watching \($0)" } ?? ""
        return "\(isHealthy ? "healthy" : "unhealthy"): container \(container), vault \(vault?.rawValue ?? "unknown"), "
            + "watermarks \(watermarks)\(watching)\(rejection)"
    }
}

extension SealedStore {
    /// The store's current health. See ``StoreHealth`` for its cost.
    public var health: StoreHealth {
        StoreHealth(
            container: containerHealth, vault: try? Vault.availability(AccessGroup(group), in: home),
            watermarks: watermarkCondition)
    }

    private var containerHealth: StoreHealth.Container {
        do throws(StoreError) {
            _ = try following()
            return .present
        } catch {
            return error.code == .containerMissing ? .missing : .unusable(error.reason)
        }
    }
}
