/// Reads one form of carrier, leaf by leaf, in memory that does not grow with the file.
package protocol CarrierReader {
    /// Hands every leaf to the visitor.
    ///
    /// A damaged part is noted in the walk's budget and passed over where what follows can still be read.
    /// - Throws: `CarrierFault` where the rest was not read.
    static func read(_ input: CarrierInput, _ walk: LeafWalk) throws(CarrierFault)
}

/// One walk through a file and everything nested in it: where it is, what it may cost, and who looks at the leaves.
package final class LeafWalk {
    package let trail = LeafTrail()
    package let budget: CarrierBudget
    private let visitor: (Leaf) -> Void
    /// How many carriers are open inside each other.
    private var nesting = 0

    package init(budget: CarrierBudget, visitor: @escaping (Leaf) -> Void) {
        self.budget = budget
        self.visitor = visitor
    }

    /// Hands out one leaf.
    package func visit(
        name: UnsafeRawBufferPointer?, _ value: Leaf.Value, range: Range<Int64>?, form: CarrierForm,
        presence: Leaf.Presence = .live
    ) throws(CarrierFault) {
        try budget.spendValue()
        visitor(Leaf(name: name, value: value, range: range, presence: presence, form: form, trail: trail))
    }

    /// Notes what is left unread here.
    package func note(_ fault: CarrierFault) { budget.note(fault, at: trail.text) }

    /// Reads a carrier inside another: a fault of it is noted here and does not end what is outside, unless time is up.
    package func nested(_ form: String, _ read: () throws(CarrierFault) -> Void) throws(CarrierFault) {
        let depth = trail.depth
        trail.enter(.form(form))
        nesting += 1
        defer {
            trail.leave(to: depth)
            nesting -= 1
        }
        do throws(CarrierFault) {
            guard nesting <= budget.maximumDepth else { throw .exhausted(.depth) }
            try read()
        } catch {
            note(error)
            if error == .exhausted(.time) || error == .exhausted(.values) { throw error }
        }
    }
}
