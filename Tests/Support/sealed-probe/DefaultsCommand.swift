internal import AppGroups
internal import Dispatch
internal import Glibc
internal import SealedState

/// `defaults HOME GROUP SUITE`: prints one line for each line of its input.
///
/// `get KEY`, `set KEY TEXT`, `add KEY` (adds one under the suite's lock), `remove KEY`, `keys`, `clear`: a value, or
/// the error's code.
func defaultsCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 3 else { return 64 }
    return onDefaultsStore(arguments) { store throws(StoreError) in
        let defaults = try store.defaults(suite: arguments[2])
        say("ready")
        while let line = readLine() { say(answer(line.split(separator: " ").map(String.init), defaults)) }
    }
}

private func answer(_ words: [String], _ defaults: SealedDefaults) -> String {
    do throws(StoreError) {
        switch (words.first, words.count) {
        case ("get", 2): return try defaults.string(forKey: words[1]) ?? "-"
        case ("set", 3): try defaults.set(words[2], forKey: words[1])
        case ("add", 2): return "\(try defaults.update(DefaultsKey(words[1], default: 0)) { $0 += 1 })"
        case ("remove", 2): try defaults.removeObject(forKey: words[1])
        case ("keys", 1): return "\(try defaults.persistentDomain().count)"
        case ("clear", 1): try defaults.removePersistentDomain()
        default: return "what?"
        }
        return "done"
    } catch {
        return error.code.rawValue
    }
}

/// `defaults-count HOME GROUP PREFIX KEYS WRITES`: writes 1, 2, 3 … to `PREFIX0`, `PREFIX1` … in turn, each as a
/// separate change. Prints `acknowledged NUMBER` after each hundredth write and the last one.
func defaultsCountCommand(arguments: [String]) -> Int32 {
    guard arguments.count == 5, let keys = Int(arguments[3]), let writes = Int(arguments[4]) else { return 64 }
    return onDefaultsStore(arguments) { store throws(StoreError) in
        var options = DefaultsOptions()
        options.durability = .unsynced
        options.lockTimeout = .seconds(600)
        let defaults = try store.defaults(options: options)
        for number in 1...writes {
            try defaults.set(number, forKey: "\(arguments[2])\(number % keys)")
            if number.isMultiple(of: 100) || number == writes { say("acknowledged \(number)") }
        }
    }
}

/// `defaults-watch HOME GROUP KEYS WRITES PREFIX…`: watches the changes of `defaults-count`.
///
/// Prints `ready`, then `all` after the notification of the last value of every key.
func defaultsWatchCommand(arguments: [String]) -> Int32 {
    guard arguments.count > 4, let keys = Int(arguments[2]), let writes = Int(arguments[3]) else { return 64 }
    let last = Dictionary(
        uniqueKeysWithValues: arguments[4...].flatMap { prefix in
            ((writes - keys + 1)...writes).map { ("\(prefix)\($0 % keys)", $0) }
        })
    return onDefaultsStore(arguments) { store throws(StoreError) in
        let defaults = try store.defaults()
        let changes = try defaults.changes()
        let done = DispatchSemaphore(value: 0)
        Task {
            var left = last
            say("ready")
            for await change in changes {
                if let rejection = change.rejection { say("rejected \(rejection.code.rawValue)") }
                for key in change.keys where (try? defaults.integer(forKey: key)) == left[key] { left[key] = nil }
                if left.isEmpty { break }
            }
            done.signal()
        }
        done.wait()
        say("all")
    }
}

private func onDefaultsStore(_ arguments: [String], _ body: (SealedStore) throws(StoreError) -> Void) -> Int32 {
    guard let group = try? AppGroup(arguments[1]) else { return 64 }
    do throws(StoreError) {
        try body(try SealedStore(group: group, in: GroupsHome(root: arguments[0])))
        return 0
    } catch {
        say(error.code.rawValue)
        return 1
    }
}
