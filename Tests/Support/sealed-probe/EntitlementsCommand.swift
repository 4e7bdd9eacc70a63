internal import AppGroups
internal import SealedState

/// `entitlements [HOME GROUP [wait|twice]]`: prints this program's app groups, `none` or the error's code; then opens the
/// group's store and prints `opened` or the error's code.
///
/// With `wait` it prints `waiting` and reads a line before anything else; with `twice` it reads one before it opens.
func entitlementsCommand(arguments: [String]) -> Int32 {
    let pause = arguments.count > 2 ? arguments[2] : ""
    if pause == "wait" {
        sayAtOnce("waiting")
        _ = readLine()
    }
    do throws(AppGroupError) {
        let groups = try Entitlements.ofThisProgram()?.applicationGroups
        sayAtOnce(groups.map { $0.map(\.identifier).joined(separator: " ") } ?? "none")
    } catch {
        sayAtOnce(error.code.rawValue)
    }
    if pause == "twice" { _ = readLine() }
    guard arguments.count > 1 else { return 0 }
    guard let group = try? AppGroup(arguments[1]) else { return 64 }
    do throws(StoreError) {
        _ = try SealedStore(group: group, in: GroupsHome(root: arguments[0]))
        sayAtOnce("opened")
        return 0
    } catch {
        sayAtOnce(error.code.rawValue)
        return 1
    }
}
