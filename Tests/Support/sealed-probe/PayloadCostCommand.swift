internal import AppGroups
internal import SealedState

/// `payload-cost HOME GROUP [SIZE]`: for each line of its input reads the record of that name, with any contents. SIZE
/// is the size of the largest record that it reads.
///
/// Prints `read` or the error's code, the increase of the peak of resident memory in KiB, and the duration in
/// microseconds.
func payloadCostCommand(arguments: [String]) -> Int32 {
    guard (2...3).contains(arguments.count), let group = try? AppGroup(arguments[1]) else { return 64 }
    var options = StoreOptions()
    if arguments.count == 3 { options.maximumRecordSize = Int(arguments[2]) ?? 0 }
    let home = GroupsHome(root: arguments[0])
    guard let store = try? SealedStore(group: group, in: home, creating: false, options: options) else { return 1 }
    while let name = readLine() {
        guard forgetPeak() else { return 1 }
        let before = residentMemory("VmRSS:")
        let start = ContinuousClock.now
        let answer = reading(name, store)
        let time = ContinuousClock.now - start
        say("\(answer) \(max(0, residentMemory("VmHWM:") - before)) \(Int(time / .microseconds(1)))")
    }
    return 0
}

private func reading(_ name: String, _ store: SealedStore) -> String {
    do throws(StoreError) {
        _ = try store.read(AnyRecord.self, named: name)
        return "read"
    } catch {
        return error.code.rawValue
    }
}
