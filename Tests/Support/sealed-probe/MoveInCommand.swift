internal import Glibc
internal import SealedState
internal import StateImport

/// `move-in HOME GROUP record|file|defaults|aes FILE NAME KEY`: imports one file. Prints the outcome, or the error's
/// code.
func moveInCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 6, let group = try? AppGroup(arguments[1]) else { return 64 }
    do throws(StoreError) {
        let importer = PlaintextImporter(to: try SealedStore(group: group, in: GroupsHome(root: arguments[0])))
        say(try move(importer, arguments[2], arguments[3], name: arguments[4], key: arguments[5]).word)
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}

private func move(
    _ importer: PlaintextImporter, _ kind: String, _ path: String, name: String, key: String
) throws(StoreError) -> MovedItem {
    switch kind {
    case "record": try importer.record(path, as: name)
    case "file": try importer.file(path)
    case "defaults": try importer.defaults(path, suite: name)
    default:
        try importer.aesGCM(
            path, key: .file(key), as: name, conversion: RecordConversion(numbers: ["tokenExpiresAt"]))
    }
}

extension MovedItem {
    fileprivate var word: String {
        switch outcome {
        case .sealed: "sealed"
        case .alreadySealed: "alreadySealed"
        case .gone: "gone"
        case .planned: "planned"
        case .left: "left"
        case .failed: "failed"
        }
    }
}
