internal import FoundationEssentials
internal import Glibc
internal import SealedState

/// `lease HOME GROUP NAME MILLISECONDS`: takes a lease and handles lines of its input: `write` adds one to the record
/// `probe` under the fence, `renew` renews the lease, `fail` throws, any other line ends the work.
///
/// Prints `waiting`, `took FENCE`, for each line `done` or the error's code, and at the end `performed`, `reused`,
/// `outlived` or the error's code.
func leaseCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 4, let milliseconds = Int(arguments[3]) else { return 64 }
    return inTask {
        let store = try await SealedStore.open(group: AppGroup(arguments[1]), in: GroupsHome(root: arguments[0]))
        say("waiting")
        let outcome = try await store.withLease(arguments[2], for: .milliseconds(milliseconds)) { fence in
            say("took \(fence.number)")
            while let line = readLine(), try await work(line, store, fence) {}
        }
        switch outcome {
        case .performed: say("performed")
        case .reused: say("reused")
        case .outlived: say("outlived")
        }
    }
}

private struct Failed: Error {}

private func work(_ line: String, _ store: SealedStore, _ fence: LeaseFence) async throws -> Bool {
    do {
        switch line {
        case "write":
            let start = ProbeRecord(number: 0, text: "")
            try await store.update(ProbeRecord.self, startingWith: start, holding: fence) { $0.number += 1 }
        case "renew": try await store.renewLease(fence, for: .seconds(600))
        case "fail": throw Failed()
        default: return false
        }
        say("done")
    } catch let error as StoreError {
        say(error.code.rawValue)
    }
    return true
}

/// Runs asynchronous work to its end.
private func inTask(_ body: @escaping @Sendable () async throws -> Void) -> Int32 {
    Task {
        do {
            try await body()
            exit(0)
        } catch {
            say((error as? StoreError)?.code.rawValue ?? "failed")
            exit(1)
        }
    }
    while true { pause() }
}
