internal import AppGroups
internal import KeyVault
internal import Sealing

/// `vault-key HOME GROUP`: waits for a line, then opens or creates the vault.
///
/// Prints `ready`, then the active key's id or the error's code.
func vaultKeyCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 2, let group = try? AppGroup(arguments[1]) else { return 64 }
    let home = GroupsHome(root: arguments[0])
    say("ready")
    _ = readLine()
    do throws(VaultError) {
        let vault = try Vault.openOrCreate(AccessGroup(group), in: home)
        say(try vault.activeKey().id.description)
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}

/// `vault-open-identity HOME GROUP FILE`: opens the vault with an identity. Prints `opened` or the error's code.
func vaultOpenIdentityCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3, let group = try? AppGroup(arguments[1]) else { return 64 }
    do throws(VaultError) {
        let identity = try Identity(contentsOf: arguments[2])
        _ = try Vault.open(AccessGroup(group), in: GroupsHome(root: arguments[0]), with: .identity(identity))
        say("opened")
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}
