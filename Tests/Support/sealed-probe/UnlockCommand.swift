internal import AppGroups
internal import KeyVault
internal import SharedFiles

/// `vault-session HOME GROUP kernel|RUNTIME-DIRECTORY`: a separate login session, which handles lines of its input
/// until their end.
///
/// | line | answer |
/// | --- | --- |
/// | `open` | `opened` or the error's code, with any available credential |
/// | `open TEXT` | the same, with a passphrase |
/// | `use` | `unlocked` or `locked` for what is protected when unlocked, or the error's code |
/// | `unlock SECONDS\|-` | `true` or `false` for the present state of that class, or the error's code |
/// | `lock`, `lock everything` | `done` or the error's code |
func vaultSessionCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3, let group = try? AppGroup(arguments[1]) else { return 64 }
    do throws(FileError) {
        if arguments[2] == "kernel" { try SessionKeyring.joinFresh() }
    } catch {
        say(error.code.rawValue)
        return 1
    }
    say("ready")
    UnlockCaches.$current.withValue(caches(arguments[2])) {
        var session = Session(accessGroup: AccessGroup(group), home: GroupsHome(root: arguments[0]))
        while let line = readLine() {
            do throws(VaultError) {
                say(try session.answer(line.split(separator: " ").map(String.init)))
            } catch {
                say(error.code.rawValue)
            }
        }
    }
    return 0
}

/// `unlock-find VAULT-ID kernel|RUNTIME-DIRECTORY`: prints `found` or `none` for a vault's unlocked keys, or the
/// error's code. It uses the session keyring of its parent process.
func unlockFindCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 2 else { return 64 }
    let digits = arguments[0].compactMap { $0.hexDigitValue.map(UInt8.init) }
    let vaultID = stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    do throws(VaultError) {
        say(try caches(arguments[1]).holdKeys(vaultID: vaultID) ? "found" : "none")
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}

private func caches(_ name: String) -> UnlockCaches {
    name == "kernel" ? .kernelKeyring : .runtimeFile(below: name)
}

private struct Session {
    let accessGroup: AccessGroup
    let home: GroupsHome
    var vault: Vault?

    mutating func answer(_ words: [String]) throws(VaultError) -> String {
        switch words.first {
        case "open": return try open(words.dropFirst().first)
        case "use":
            return try vault.map { vault throws(VaultError) in try vault.isUnlocked() ? "unlocked" : "locked" } ?? "?"
        case "unlock":
            return try vault.map { vault throws(VaultError) in "\(try vault.unlock(for: seconds(words)))" } ?? "?"
        case "lock": return try lock(everything: words.count > 1)
        default: return "?"
        }
    }

    private mutating func open(_ text: String?) throws(VaultError) -> String {
        var credential = VaultCredential.automatic
        if let text {
            let passphrase = try Array(text.utf8).span.withUnsafeBytes { bytes throws(VaultError) in
                try Passphrase(copying: bytes)
            }
            credential = .passphrase(passphrase)
        }
        vault = try Vault.open(accessGroup, in: home, with: credential)
        return "opened"
    }

    private func lock(everything: Bool) throws(VaultError) -> String {
        try Vault.lock(accessGroup, in: home, everything: everything)
        return "done"
    }

    private func seconds(_ words: [String]) -> Duration? {
        words.dropFirst().first.flatMap { Int($0) }.map { .seconds($0) }
    }
}
