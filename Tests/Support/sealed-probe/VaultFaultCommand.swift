internal import AppGroups
internal import Glibc
internal import KeyVault
internal import Sealing

/// `vault-change HOME GROUP VERB [WORD...]`: makes one change of a vault that its key file opens.
///
/// | verb | change |
/// | --- | --- |
/// | `create` | creates the vault if it does not exist |
/// | `add ACCOUNT SIZE`, `update ACCOUNT SIZE`, `delete ACCOUNT` | an item of service `s` |
/// | `slot PASSPHRASE` | opened with a passphrase: adds an unattended recipient |
/// | `rekey PASSPHRASE` | opened with a passphrase: creates new roots, removes no slot |
/// | `passphrase OLD NEW` | opens the vault with a passphrase, waits for a line, and replaces the passphrase |
/// | `begin`, `complete EPOCH` | a rotation |
/// | `destroy` | every key that is not active |
/// | `many COUNT` | waits for a line, and updates item `a` of service `s` COUNT times |
///
/// Prints `ready` before a wait, then `done` or the error's code: `durabilityUnknown` if the change is in place.
func vaultChangeCommand(arguments: [String]) -> Int32 {
    guard arguments.count >= 3, let group = try? AppGroup(arguments[1]) else { return 64 }
    let change = VaultChange(
        accessGroup: AccessGroup(group), home: GroupsHome(root: arguments[0]), words: Array(arguments.dropFirst(3)))
    do throws(VaultError) {
        try change.make(arguments[2])
        say("done")
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}

/// `vault-wait HOME GROUP`: prints `ready`, waits for a line, then tries to open the vault until it exists. Prints the
/// active key's id, or the first other error's code.
func vaultWaitCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 2, let group = try? AppGroup(arguments[1]) else { return 64 }
    say("ready")
    _ = readLine()
    for _ in 0..<100_000 {
        do throws(VaultError) {
            let vault = try Vault.open(AccessGroup(group), in: GroupsHome(root: arguments[0]))
            say(try vault.activeKey().id.description)
            return 0
        } catch {
            if error.code == .absent { continue }
            say(error.code.rawValue)
            return 1
        }
    }
    say("absent")
    return 1
}

/// `vault-abort HOME GROUP passphrase|identity|key-file FILE SERVICE ACCOUNT DIRECTORY`: opens the vault with a
/// credential from a file and borrows an item's value. Prints `ready` and its size, waits for a line, and aborts in the
/// directory while it borrows the value. Prints an error's code.
func vaultAbortCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 7, let group = try? AppGroup(arguments[1]), chdir(arguments[6]) == 0 else { return 64 }
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
    do throws(VaultError) {
        let vault = try Vault.open(
            AccessGroup(group), in: GroupsHome(root: arguments[0]),
            with: try fileCredential(arguments[2], path: arguments[3]))
        return try vault.withValue(service: arguments[4], account: arguments[5]) { value -> Int32 in
            say("ready \(value.count)")
            _ = readLine()
            abort()
        }
    } catch {
        say(error.code.rawValue)
        return 1
    }
}

private func fileCredential(_ kind: String, path: String) throws(VaultError) -> VaultCredential {
    switch kind {
    case "passphrase": .passphrase(try Passphrase(contentsOf: path))
    case "identity": .identity(try Identity(contentsOf: path))
    default: .keyFile(path: path)
    }
}

private struct VaultChange {
    let accessGroup: AccessGroup
    let home: GroupsHome
    let words: [String]

    func make(_ verb: String) throws(VaultError) {
        switch verb {
        case "create": _ = try Vault.openOrCreate(accessGroup, in: home)
        case "passphrase": try changePassphrase()
        case "slot": try openAsPerson().addSlot(.recipient(try Identity.random().recipient, unattended: true))
        case "rekey": try openAsPerson().rekey()
        case "many":
            // Changes without a pause leave the other processes few opportunities, so the lock timeout is longer than
            // usual.
            try makeMany(of: try Vault.open(accessGroup, in: home, options: VaultOptions(lockTimeout: .seconds(90))))
        default: try make(verb, of: try Vault.open(accessGroup, in: home))
        }
    }

    private func make(_ verb: String, of vault: Vault) throws(VaultError) {
        switch verb {
        case "add", "update": try write(verb, of: vault, account: word(0), size: Int(word(1)) ?? 0)
        case "delete": try vault.deleteItem(service: "s", account: word(0))
        case "begin": _ = try vault.beginRotation(of: .afterFirstUnlock)
        case "complete": try vault.completeRotation(of: .afterFirstUnlock, to: UInt32(word(0)) ?? 0)
        case "destroy":
            for key in try vault.keySummaries() where key.state == .decryptOnly { try vault.destroyKey(key.id) }
        default: throw VaultError(.invalidArgument, "do", verb, "It is no verb.")
        }
    }

    private func makeMany(of vault: Vault) throws(VaultError) {
        wait()
        for index in 0..<(Int(word(0)) ?? 0) { try write("update", of: vault, account: "a", size: index + 1) }
    }

    private func openAsPerson() throws(VaultError) -> Vault {
        try Vault.open(accessGroup, in: home, with: .passphrase(try passphrase(word(0))))
    }

    private func changePassphrase() throws(VaultError) {
        let old = VaultCredential.passphrase(try passphrase(word(0)))
        let vault = try openAsPerson()
        let id = try vault.slotID(openedBy: old) ?? 0
        wait()
        try vault.replaceSlot(id: id, with: .passphrase(try passphrase(word(1)), .minimum))
    }

    private func write(_ verb: String, of vault: Vault, account: String, size: Int) throws(VaultError) {
        let value = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
        defer { value.deallocate() }
        value.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "v"))
        if verb == "add" {
            try vault.addItem(service: "s", account: account, value: UnsafeRawBufferPointer(value))
        } else {
            try vault.updateItem(service: "s", account: account, value: UnsafeRawBufferPointer(value))
        }
    }

    private func word(_ index: Int) -> String { index < words.count ? words[index] : "" }

    private func wait() {
        say("ready")
        _ = readLine()
    }

    private func passphrase(_ text: String) throws(VaultError) -> Passphrase {
        try Array(text.utf8).span.withUnsafeBytes { bytes throws(VaultError) in try Passphrase(copying: bytes) }
    }
}
