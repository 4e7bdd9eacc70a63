import TestSupport

extension Sandbox {
    private static let size = 100

    /// The value that a traced replace writes.
    static let newValue = String(repeating: "n", count: size)

    /// Returns a child that replaces file `x` once; `strategy` is an argument of `sealed-probe replace-limited`.
    func traced(_ strategy: String, _ durability: String = "durable") -> TracedProcess {
        let words = ["replace-limited", path(""), "x", "\(Self.size)", strategy, durability]
        return TracedProcess(words, log: place.path("trace"))
    }
}
