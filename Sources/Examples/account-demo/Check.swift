/// One thing that had to be so, and whether it was.
struct Check {
    let expected: String
    let passed: Bool
    /// What was there instead.
    var instead: String?

    var sentence: String {
        guard !passed, let instead else { return expected }
        return "\(expected): no, \(instead)"
    }
}
