import AppGroups
import TestSupport
import Testing

extension StoreFixture {
    /// A command of `sealed-probe` on this home: the command's words without home and group.
    func traced(_ words: [String]) -> TracedProcess {
        // The log is beside the home, not in it, so it does not count as litter.
        TracedProcess([words[0], place.path, group.identifier] + words.dropFirst(), log: place.path + ".trace")
    }

    /// Returns the calls of an undisturbed run that can change files, or all of them in the long form.
    func calls(_ words: [String]) throws -> [TracedProcess.Call] {
        let traced = traced(words)
        defer { traced.removeLog() }
        #expect(try traced.run().exitCode == 0)
        return try traced.calls(from: ".sealedstate.").filter { $0.name != "execve" && (isLongForm || $0.isChange) }
    }
}
