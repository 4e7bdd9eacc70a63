internal import AppGroups
internal import AuditReports
internal import Glibc
internal import KeyVault

/// Checks of the kernel and the machine.
enum SystemChecks {
    static func examine() -> [Diagnosis] {
        [keyring(), watches(), instances(), boot(), machine(), clock(), entitlements()]
    }

    private static func keyring() -> Diagnosis {
        switch UnlockCaches.current.place {
        case .kernelKeyring: .ok("unlocked-keys", "kept in \(UnlockPlace.kernelKeyring)")
        case .runtimeFile:
            .ok("unlocked-keys", "kept in \(UnlockPlace.runtimeFile), because the kernel's keyring is not available")
        case nil:
            .warn(
                "unlocked-keys", "there is no place to keep them: sealctl vault unlock will not work",
                remedy:
                    "Let the program use the kernel's keyring (keyctl), or set XDG_RUNTIME_DIR to a tmpfs of this user."
            )
        }
    }

    /// Checks the number of inotify watches. A watched container takes one for each directory.
    private static func watches() -> Diagnosis {
        limit("watches", "max_user_watches", atLeast: 8192, "directories may be watched")
    }

    /// Checks the number of inotify instances. A program that watches takes one.
    private static func instances() -> Diagnosis {
        limit("watchers", "max_user_instances", atLeast: 128, "programs of a user may watch")
    }

    private static func limit(_ id: String, _ name: String, atLeast least: Int, _ what: String) -> Diagnosis {
        guard let value = ProcFile.number("/proc/sys/fs/inotify/\(name)") else {
            return .warn(id, "the kernel does not report fs.inotify.\(name)", remedy: "Mount /proc.")
        }
        guard value < least else { return .ok(id, "\(value) \(what)") }
        return .warn(
            id, "only \(value) \(what) (fs.inotify.\(name))",
            remedy: "As root: sysctl -w fs.inotify.\(name)=\(least * 8)"
        )
    }

    private static func boot() -> Diagnosis {
        guard BootID.current.text.contains(where: { $0 != "0" }) else {
            return .warn(
                "boot-id", "the kernel does not report a boot id: every run counts as a restart",
                remedy: "Mount /proc.")
        }
        return .ok("boot-id", "known")
    }

    private static func machine() -> Diagnosis {
        guard let text = ProcFile.text("/etc/machine-id"), text.count >= 32 else {
            return .warn(
                "machine-id", "/etc/machine-id is missing: items cannot be bound to this device",
                remedy: "As root: systemd-machine-id-setup, or dbus-uuidgen --ensure=/etc/machine-id")
        }
        return .ok("machine-id", "known")
    }

    /// A time before this program was written, in milliseconds since 1970.
    private static let earliest: UInt64 = 1_735_689_600_000

    private static func clock() -> Diagnosis {
        let now = Timestamp.now
        guard now.milliseconds >= earliest else {
            return .fail(
                "clock", "it shows \(now.short): expiry times would be judged wrongly",
                remedy: "Correct it: timedatectl set-ntp true")
        }
        return .ok("clock", now.short)
    }
}

extension SystemChecks {
    /// Reports whether programs without entitlements are refused.
    private static func entitlements() -> Diagnosis {
        let id = "entitlements"
        do throws(AppGroupError) {
            guard let requirement = try EntitlementRequirement.stated() else {
                return .ok(id, "not required: a program without entitlements opens every group")
            }
            return .ok(id, "required of every program but sealctl: \(requirement.source)")
        } catch {
            return .fail(id, Failure(error))
        }
    }
}

/// Small files that the kernel generates.
enum ProcFile {
    static func number(_ path: String) -> Int? { text(path).flatMap { Int($0) } }

    /// Returns the first line, or `nil` if it cannot be read.
    static func text(_ path: String) -> String? {
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard opened >= 0 else { return nil }
        defer { close(opened) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(opened, &bytes, bytes.count)
        guard count > 0 else { return nil }
        return String(decoding: bytes[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
    }
}
