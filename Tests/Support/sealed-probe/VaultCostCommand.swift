internal import AppGroups
internal import Glibc
internal import KeyVault

/// `vault-cost HOME GROUP [PASSPHRASE]`: opens the vault, and lists its items, at each line of its input, with its key file or a passphrase.
///
/// Prints `opened` or the error's code, the increase of the peak of resident memory in KiB (proc(5), `VmHWM` and
/// `VmRSS`), and the duration in microseconds.
func vaultCostCommand(arguments: [String]) -> Int32 {
    guard (2...3).contains(arguments.count), let group = try? AppGroup(arguments[1]) else { return 64 }
    var credential = VaultCredential.defaultKeyFile
    if arguments.count == 3 {
        let bytes = Array(arguments[2].utf8)
        guard let passphrase = try? bytes.span.withUnsafeBytes({ try Passphrase(copying: $0) }) else { return 64 }
        credential = .passphrase(passphrase)
    }
    while readLine() != nil {
        guard forgetPeak() else { return 1 }
        let before = residentMemory("VmRSS:")
        let start = ContinuousClock.now
        let answer = opening(AccessGroup(group), GroupsHome(root: arguments[0]), credential)
        let time = ContinuousClock.now - start
        say("\(answer) \(max(0, residentMemory("VmHWM:") - before)) \(Int(time / .microseconds(1)))")
    }
    return 0
}

/// `vault-mappings HOME GROUP COUNT`: opens the vault with its key file COUNT times, and keeps all of them open.
///
/// Prints the error's code, or the total number of available sealing keys and the number of memory mappings (proc(5),
/// `/proc/self/maps`).
func vaultMappingsCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3, let group = try? AppGroup(arguments[1]), let count = Int(arguments[2]) else {
        return 64
    }
    var vaults: [Vault] = []
    do throws(VaultError) {
        var keys = 0
        for _ in 0..<count {
            let vault = try Vault.open(
                AccessGroup(group), in: GroupsHome(root: arguments[0]), with: .defaultKeyFile)
            keys += try vault.currentKeyring().ids.count
            vaults.append(vault)
        }
        say("\(keys) \(mappings())")
    } catch {
        say(error.code.rawValue)
    }
    return 0
}

private func mappings() -> Int {
    guard let file = fopen("/proc/self/maps", "r") else { return .max }
    defer { fclose(file) }
    var count = 0
    while true {
        let next = getc(file)
        if next == EOF { return count }
        if next == 10 { count += 1 }
    }
}

private func opening(_ accessGroup: AccessGroup, _ home: GroupsHome, _ credential: VaultCredential) -> String {
    do throws(VaultError) {
        // An opening does not read the items.
        _ = try Vault.open(accessGroup, in: home, with: credential).items()
        return "opened"
    } catch {
        return error.code.rawValue
    }
}

/// Resets the peak of resident memory by writing 5 to `/proc/self/clear_refs` (proc(5)).
func forgetPeak() -> Bool {
    let file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return write(file, "5", 1) == 1
}

/// Returns a line of `/proc/self/status`, in KiB.
func residentMemory(_ name: String) -> Int {
    guard let file = fopen("/proc/self/status", "r") else { return .max }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if text.hasPrefix(name) { return text.split { !$0.isNumber }.first.flatMap { Int($0) } ?? .max }
    }
    return .max
}
