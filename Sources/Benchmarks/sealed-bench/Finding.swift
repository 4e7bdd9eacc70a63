/// One line of the report.
struct Finding: Encodable {
    enum Unit: String, Encodable {
        case seconds, bytes
    }

    let operation: String
    /// What it was compared with; nil for a figure that stands for itself.
    var peerName: String?
    let unit: Unit
    let ours: Double
    var peer: Double?
    /// The median of the rounds' ratios, which is not the ratio of the medians.
    var ratio: Double?
    /// The processor time of ours, where times are measured, and its ratio to the peer's.
    var processor: Double?
    var processorRatio: Double?
    /// The most that `ratio` may be, or `ours` where there is no peer.
    var target: Double?
    var note = ""

    /// Whether the target is met; nil where there is none.
    var isMet: Bool? { target.map { (ratio ?? ours) <= $0 } }

    /// A comparison of times.
    init(_ operation: String, _ comparison: Comparison, against peerName: String, target: Double?, note: String = "") {
        self.operation = operation
        self.peerName = peerName
        unit = .seconds
        ours = comparison.ourMedian
        peer = comparison.peerMedian
        ratio = comparison.ratio
        processor = comparison.ours.median.processor
        processorRatio = comparison.processorRatio
        self.target = target
        self.note = note
    }

    /// A time of our own.
    init(_ operation: String, _ times: Times, target: Double? = nil, note: String = "") {
        self.init(operation, times.wall, .seconds, target: target, note: note)
        processor = times.processor
    }

    /// Adds what the same costs elsewhere.
    mutating func compare(with peer: Double, _ name: String) {
        peerName = name
        self.peer = peer
        ratio = ours / peer
        note = note.isEmpty ? "against \(name)" : note
    }

    /// A figure of our own.
    init(_ operation: String, _ figure: Double, _ unit: Unit, target: Double? = nil, note: String = "") {
        self.operation = operation
        self.unit = unit
        ours = figure
        self.target = target
        self.note = note
    }

    private enum CodingKeys: String, CodingKey {
        case operation, peerName, unit, ours, peer, ratio, processor, processorRatio, target, met, note
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(operation, forKey: .operation)
        try fields.encodeIfPresent(peerName, forKey: .peerName)
        try fields.encode(unit, forKey: .unit)
        try fields.encode(ours, forKey: .ours)
        try fields.encodeIfPresent(peer, forKey: .peer)
        try fields.encodeIfPresent(ratio, forKey: .ratio)
        try fields.encodeIfPresent(processor, forKey: .processor)
        try fields.encodeIfPresent(processorRatio, forKey: .processorRatio)
        try fields.encodeIfPresent(target, forKey: .target)
        try fields.encodeIfPresent(isMet, forKey: .met)
        try fields.encode(note, forKey: .note)
    }
}
