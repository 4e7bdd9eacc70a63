internal import SealedState

/// `store-change HOME GROUP write|update|delete|purge [NUMBER]`: one durable change of the record `probe`.
///
/// Prints `done`, or the error's code.
func storeChangeCommand(arguments: [String]) -> Int32 {
    guard arguments.count >= 3, let group = try? AppGroup(arguments[1]) else { return 64 }
    let number = arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0
    do throws(StoreError) {
        let store = try SealedStore(group: group, in: GroupsHome(root: arguments[0]))
        switch arguments[2] {
        case "write": try store.write(ProbeRecord(number: number, text: "x"))
        case "update": try store.update(ProbeRecord.self) { $0.number = number }
        case "delete": try store.delete(ProbeRecord.self)
        case "purge": try store.purge(named: ProbeRecord.recordName)
        default: return 64
        }
        say("done")
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}
