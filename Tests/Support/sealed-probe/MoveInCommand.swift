internal import Glibc
internal import SealedState
internal import StateImport

/// `move-in HOME GROUP record|stream|defaults|aes FILE NAME KEY`: imports one file. Prints the outcome, or the error's
/// code.
func moveInCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 6, let group = try? AppGroup(arguments[1]) else { return 64 }
    do throws(StoreError) {
        let moving = MovingIn(to: try SealedStore(group: group, in: GroupsHome(root: arguments[0])))
        say(try move(moving, arguments[2], arguments[3], name: arguments[4], key: arguments[5]).word)
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}

private func move(
    _ moving: MovingIn, _ kind: String, _ path: String, name: String, key: String
) throws(StoreError) -> MovedItem {
    switch kind {
    case "record": try moving.record(path, as: name)
    case "stream": try moving.file(path)
    case "defaults": try moving.defaults(path, suite: name)
    default: try moving.aesGCM(path, key: .file(key), as: name)
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
