internal import AppGroups
internal import FoundationEssentials
internal import Glibc
internal import SealedState

/// The record that child processes write: a number, and optionally enough text for several chunks.
struct ProbeRecord: SealedRecord, Equatable {
    static let recordName = "probe"
    static let schemaVersion = 1
    var number: Int
    var text: String

    func validate() throws(ValidationFailure) {
        guard text.allSatisfy({ $0 == "x" }) else { throw ValidationFailure("text", "Only the letter x.") }
    }
}

/// `store-write HOME GROUP NUMBER SIZE durable|unsynced [NAME]`: writes the record once.
///
/// Prints `written SEQUENCE` after the write is acknowledged, or the error's code.
func storeWriteCommand(arguments: [String]) -> Int32 {
    guard (5...6).contains(arguments.count), let number = Int(arguments[2]), let size = Int(arguments[3]) else {
        return 64
    }
    return onStore(arguments) { store throws(StoreError) in
        let record = ProbeRecord(number: number, text: String(repeating: "x", count: size))
        let name = arguments.count > 5 ? arguments[5] : ProbeRecord.recordName
        let durability: Durability = arguments[4] == "unsynced" ? .unsynced : .durable
        say("written \(try store.write(record, named: name, durability: durability))")
    }
}

/// `store-write-loop HOME GROUP SIZE`: writes the record repeatedly, and prints `written NUMBER` after each write,
/// until it is killed or its input ends.
func storeWriteLoopCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3, let size = Int(arguments[2]) else { return 64 }
    return onStore(arguments) { store throws(StoreError) in
        var number = store.readIfValid(ProbeRecord.self)?.number ?? 0
        while true {
            number += 1
            try store.write(
                ProbeRecord(number: number, text: String(repeating: "x", count: size)), durability: .unsynced)
            say("written \(number)")
        }
    }
}

/// `store-read HOME GROUP [NAME]`: prints `NUMBER SIZE SEQUENCE`, or the error's code.
func storeReadCommand(arguments: [String]) -> Int32 {
    guard (2...3).contains(arguments.count) else { return 64 }
    return onStore(arguments) { store throws(StoreError) in
        let name = arguments.count > 2 ? arguments[2] : ProbeRecord.recordName
        let snapshot = try store.snapshot(of: ProbeRecord.self, named: name)
        say("\(snapshot.value.number) \(snapshot.value.text.count) \(snapshot.provenance.sequence)")
    }
}

/// `store-last-good HOME GROUP`: reads with the policy that stores the last good value. Prints `NUMBER SEQUENCE`, for a
/// last good value also the code of the rejection, or the error's code.
func storeLastGoodCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 2 else { return 64 }
    return onStore(arguments, { $0.rejectionPolicy = .storeLastGood }) { store throws(StoreError) in
        let snapshot = try store.snapshot(of: ProbeRecord.self)
        let rejection = snapshot.rejection.map { " " + $0.code.rawValue } ?? ""
        say("\(snapshot.value.number) \(snapshot.provenance.sequence)\(rejection)")
    }
}

/// `store-increment HOME GROUP COUNT`: adds one to the record COUNT times, each time under its lock.
func storeIncrementCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3, let count = Int(arguments[2]) else { return 64 }
    return onStore(arguments) { store throws(StoreError) in
        for _ in 0..<count {
            try store.update(
                ProbeRecord.self, startingWith: ProbeRecord(number: 0, text: ""), durability: .unsynced
            ) { $0.number += 1 }
        }
        say("done")
    }
}

/// `store-list HOME GROUP`: prints every record's name, or the error's code.
func storeListCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 2 else { return 64 }
    return onStore(arguments) { store throws(StoreError) in
        for record in try store.list() { say(record.name) }
    }
}

/// `store-condition HOME GROUP`: prints the condition of the file that stores accepted states.
func storeConditionCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 2 else { return 64 }
    return onStore(arguments) { store throws(StoreError) in say(store.watermarkCondition.description) }
}

/// `store-share HOME GROUP GID`: creates container and vault for the members of a unix group. Prints `made`, or the
/// error's code.
func storeShareCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3, let group = try? AppGroup(arguments[1]), let members = UInt32(arguments[2]) else {
        return 64
    }
    do throws(AppGroupError) {
        _ = try GroupContainer.open(group, in: probeHome(arguments[0]), sharing: .unixGroup(members))
    } catch {
        say(error.code.rawValue)
        return 1
    }
    return onStore(arguments) { _ throws(StoreError) in say("made") }
}

/// Returns the home. The environment states the place of keys and watermarks of a user who shares the home with others.
private func probeHome(_ root: String) -> GroupsHome {
    GroupsHome(root: root, userRoot: getenv("SEALED_USER_HOME").map { String(cString: $0) })
}

func onStore(
    _ arguments: [String], _ change: (inout StoreOptions) -> Void = { _ in },
    _ body: (SealedStore) throws(StoreError) -> Void
) -> Int32 {
    guard let group = try? AppGroup(arguments[1]) else { return 64 }
    do throws(StoreError) {
        var options = StoreOptions()
        options.lockTimeout = .seconds(30)
        change(&options)
        try body(try SealedStore(group: group, in: probeHome(arguments[0]), options: options))
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}
