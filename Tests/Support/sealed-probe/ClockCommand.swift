internal import FoundationEssentials
internal import Glibc
internal import SealedState
internal import Synchronization

/// The record of the tests about time, with an expiry.
struct ClockRecord: SealedRecord {
    static let recordName = "clock"
    static let schemaVersion = 1
    var expiresAt: Date?
}

/// `clock-read HOME GROUP SECONDS...`: reads the record once with each of these clocks, in seconds since 1970. Prints
/// `valid` or the error's code, one line each.
func clockReadCommand(arguments: [String]) -> Int32 {
    let times = arguments.dropFirst(2).compactMap { Double($0) }
    guard arguments.count == times.count + 2, let group = try? AppGroup(arguments[1]) else { return 64 }
    let clock = Mutex(0.0)
    var options = StoreOptions()
    options.now = { Date(timeIntervalSince1970: clock.withLock { $0 }) }
    do throws(StoreError) {
        let store = try SealedStore(group: group, in: GroupsHome(root: arguments[0]), options: options)
        for time in times {
            clock.withLock { $0 = time }
            do throws(StoreError) {
                _ = try store.read(ClockRecord.self)
                say("valid")
            } catch {
                say(error.code.rawValue)
            }
        }
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}
