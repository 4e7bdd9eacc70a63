internal import AppGroups
internal import CryptoPrimitives
internal import Glibc
internal import KeyVault
internal import SealedState

/// A record that requires an unlocked vault.
private struct GuardedRecord: SealedRecord {
    static let recordName = "guarded"
    static let schemaVersion = 1
    static let protection = RecordProtection.whenUnlocked
    var number: Int
}

/// `protection-session HOME GROUP kernel|RUNTIME-DIRECTORY [IDENTITY-FILE]`: a program with an open store, as a person
/// with that identity or with any available credential. It handles lines of its input until their end.
///
/// | line | answer |
/// | --- | --- |
/// | `write NUMBER NAME` | `written SEQUENCE` or the error's code |
/// | `read NAME` | the number or the error's code |
/// | `rotate` | `completed`, `locked` if locked blobs prevent it, `left`, or the error's code |
/// | `unlock` | `true` or `false` for the state of *when unlocked*, or the error's code |
/// | `lock` | `done` or the error's code |
func protectionSessionCommand(arguments: [String]) -> Int32 {
    guard arguments.count >= 3, let group = try? AppGroup(arguments[1]) else { return 64 }
    var status: Int32 = 1
    UnlockCaches.$current.withValue(
        arguments[2] == "kernel" ? .kernelKeyring : .runtimeFile(below: arguments[2])
    ) {
        do {
            let home = GroupsHome(root: arguments[0])
            let credential: VaultCredential =
                arguments.count > 3 ? .identity(try Identity(contentsOf: arguments[3])) : .automatic
            let store = try SealedStore(group: group, in: home, unlockingWith: credential, creating: false)
            say("ready")
            while let line = readLine() {
                say(ProtectionSession(store: store, home: home).answer(line.split(separator: " ").map(String.init)))
            }
            status = 0
        } catch {
            say("\(error)")
        }
    }
    return status
}

private struct ProtectionSession {
    let store: SealedStore
    let home: GroupsHome

    func answer(_ words: [String]) -> String {
        do {
            switch words.first {
            case "write":
                let number = words.dropFirst().first.flatMap { Int($0) } ?? 0
                let sequence = try store.write(
                    GuardedRecord(number: number), named: words.last ?? "", durability: .unsynced)
                return "written \(sequence)"
            case "read": return "\(try store.read(GuardedRecord.self, named: words.last ?? "").number)"
            case "rotate":
                let report = try store.rotate()
                return report.isCompleted ? "completed" : report.needsUnlocking ? "locked" : "left"
            case "unlock": return "\(try store.vault.unlock())"
            case "lock":
                try Vault.lock(AccessGroup(store.group), in: home)
                return "done"
            default: return "?"
            }
        } catch let error as StoreError {
            return error.code.rawValue
        } catch let error as VaultError {
            return error.code.rawValue
        } catch {
            return "?"
        }
    }
}
