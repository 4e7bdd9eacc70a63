import AppGroups
import TestSupport

extension StoreFixture {
    /// A command of `sealed-probe` on this home: the command's words without home and group.
    func traced(_ words: [String]) -> TracedProcess {
        // The log is beside the home, not in it, so it does not count as litter.
        TracedProcess([words[0], place.path, group.identifier] + words.dropFirst(), log: place.path + ".trace")
    }
}
