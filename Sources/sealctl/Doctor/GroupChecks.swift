internal import AppGroups
internal import KeyVault
internal import SharedFiles

/// One group's container and vault.
enum GroupChecks {
    static func examine(_ group: AppGroup, in home: GroupsHome) -> [Diagnosis] {
        container(group, home) + [vault(AccessGroup(group), home)]
    }

    private static func container(_ group: AppGroup, _ home: GroupsHome) -> [Diagnosis] {
        do throws(AppGroupError) {
            let container = try GroupContainer.open(group, in: home, creating: false)
            return [.ok("container", container.path), lock(of: container)]
        } catch {
            return [.fail("container", Failure(error))]
        }
    }

    /// It is made by whoever takes the first lock; anything else under its name keeps everybody from writing.
    private static func lock(of container: GroupContainer) -> Diagnosis {
        let name = ContainerLayout.lockFile
        do throws(FileError) {
            let attributes = try container.root.attributes(name)
            guard attributes.kind == .regular else {
                return .fail(
                    "lock-file", "\(name) is a \(attributes.kind.rawValue), so nothing can be written",
                    mend: "sealctl repair sets it aside.")
            }
            return .ok("lock-file", name)
        } catch {
            if error.code == .notFound { return .ok("lock-file", "made by whoever writes first") }
            return .fail("lock-file", Failure(error))
        }
    }

    private static func vault(_ group: AccessGroup, _ home: GroupsHome) -> Diagnosis {
        let path = VaultPlace(group, in: home).path
        do throws(VaultError) {
            let status = try Vault.status(group, in: home)
            switch status.availability {
            case .ready: return .ok("vault", "\(path) can be opened")
            case .locked: return locked(path, status)
            case .absent: return absent(group, path)
            case .denied: return .fail("vault", "\(path) is another user's", mend: "Ask its owner to share it.")
            case .damaged:
                return .fail("vault", "\(path) is damaged", mend: "Restore it from a backup: sealctl vault import.")
            }
        } catch {
            return .fail("vault", Failure(error))
        }
    }

    private static func locked(_ path: String, _ status: VaultStatus) -> Diagnosis {
        let openers = status.slots.map(\.kind.description).joined(separator: ", ")
        return .warn(
            "vault", "\(path) is locked; it opens with: \(openers)",
            mend: "sealctl vault unlock, or --passphrase, --key-file or --identity.")
    }

    private static func absent(_ group: AccessGroup, _ path: String) -> Diagnosis {
        if let lost = try? LostVault.failure(of: group, for: VaultError(.absent, "open", path, "There is none.")) {
            return .fail("vault", lost)
        }
        return .fail("vault", "there is none at \(path)", mend: "sealctl init")
    }
}
