import TestSupport

extension Yard {
    private static let size = 100

    /// What a traced replace writes.
    static let newValue = String(repeating: "n", count: size)

    /// A child that replaces file `x` once; `strategy` is what `sealed-probe replace-limited` calls it.
    func traced(_ strategy: String, _ durability: String = "durable") -> TracedProcess {
        let words = ["replace-limited", path(""), "x", "\(Self.size)", strategy, durability]
        return TracedProcess(words, log: place.path("trace"))
    }
}
