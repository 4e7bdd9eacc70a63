internal import AppGroups
internal import KeyVault

/// `vault-item HOME GROUP add|update|delete|read SERVICE ACCOUNT [SIZE]`: opens the vault, waits for a line, and
/// performs the operation.
///
/// Prints `ready`, then `done`, the value's size for `read`, or the error's code. A value is SIZE times the letter v.
func vaultItemCommand(arguments: [String]) -> Int32 {
    guard (5...6).contains(arguments.count), let group = try? AppGroup(arguments[1]) else { return 64 }
    let size = arguments.count > 5 ? Int(arguments[5]) ?? 0 : 1
    do throws(VaultError) {
        let vault = try Vault.open(AccessGroup(group), in: GroupsHome(root: arguments[0]))
        say("ready")
        _ = readLine()
        say(try act(arguments[2], on: vault, arguments[3], arguments[4], size))
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}

private func act(
    _ verb: String, on vault: Vault, _ service: String, _ account: String, _ size: Int
) throws(VaultError) -> String {
    let value = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
    defer { value.deallocate() }
    value.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "v"))
    let bytes = UnsafeRawBufferPointer(value)
    switch verb {
    case "add": try vault.addItem(service: service, account: account, value: bytes)
    case "update": try vault.updateItem(service: service, account: account, value: bytes)
    case "delete": try vault.deleteItem(service: service, account: account)
    default: return "\(try vault.withValue(service: service, account: account) { $0.count })"
    }
    return "done"
}
