internal import KeyVault
internal import Sealing

/// What tells one state of a record from another one: which blob was accepted, and what came of a read.
struct UpdateMark: Sendable, Hashable {
    let name: NameTag
    /// The accepted state at the time; epoch and sequence 0 where nothing was ever accepted.
    let accepted: Watermark
    /// `value`, or the error's code; for a last good value both.
    let outcome: String

    private static let nothing = Watermark(epoch: 0, sequence: 0, commitment: nil)

    /// After a read that was refused.
    ///
    /// - Parameter accepted: What is the highest by now. A blob that is refused for what it says, or for its age, was
    ///   accepted before: the next one of the kind has another mark. One that is refused for its form was not.
    init(_ name: NameTag, _ error: StoreError, accepted: Watermark?) {
        self.init(name: name, accepted: accepted ?? Self.nothing, outcome: error.code.rawValue)
    }

    /// After a read that went well.
    init(_ name: NameTag, _ provenance: Provenance, rejection: StoreError?, accepted: Watermark?) {
        let isAccepted = accepted.map { $0.sequence == provenance.sequence && $0.epoch == provenance.epoch } ?? false
        // Where another thread has accepted a newer one meanwhile, which blob this was is not known any more.
        let own = Watermark(
            epoch: provenance.epoch, sequence: provenance.sequence, commitment: isAccepted ? accepted?.commitment : nil)
        // What is answered in place of a refused blob changes with what is refused.
        let shown = rejection == nil ? own : accepted ?? own
        self.init(name: name, accepted: shown, outcome: "value" + (rejection.map { " " + $0.code.rawValue } ?? ""))
    }

    init(name: NameTag, accepted: Watermark, outcome: String) {
        self.name = name
        self.accepted = accepted
        self.outcome = outcome
    }

    /// Whether the two are one and the same state, as far as is known of both.
    func isSame(as other: UpdateMark) -> Bool {
        let sameOrder = accepted.epoch == other.accepted.epoch && accepted.sequence == other.accepted.sequence
        guard name == other.name, outcome == other.outcome, sameOrder else { return false }
        guard let commitment = accepted.commitment, let others = other.accepted.commitment else { return true }
        return commitment == others
    }
}
