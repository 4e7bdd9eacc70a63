internal import ContentDecoding

/// Something wrong with one leaf, on its way to a finding: the scan adds where it is, and leaves out what is ignored.
struct ContentHit {
    let check: AuditCheck
    var severity: Severity?
    var confidence: Confidence = .certain
    /// A sentence; never the value.
    let detail: String
    var remedy: String?
    /// The part of the leaf's bytes that matters; its keyed hash goes into the fingerprint. Nil for the whole leaf.
    var range: Range<Int>?
}

/// Looks at the leaves of one file for what the search for secrets does not: names, switches, the store they lie in.
protocol LeafInspector: SendableMetatype {
    /// A new inspector for one file; nil where it does not concern it.
    init?(_ subject: AuditSubject, in scope: AuditScope)
    mutating func inspect(_ leaf: Leaf) -> [ContentHit]
    /// What the whole file comes to, once every leaf was seen.
    mutating func conclude() -> [ContentHit]
}

extension LeafInspector {
    mutating func conclude() -> [ContentHit] { [] }
}

/// The inspectors of leaves, in the order in which they are asked.
enum LeafInspectors {
    static let all: [any LeafInspector.Type] = [
        SwitchInspector.self, DatabaseInspector.self, CookieInspector.self, KeyValueInspector.self,
    ]
}
