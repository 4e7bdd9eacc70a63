import FoundationEssentials

/// Findings as a table for people or as JSON for machines.
enum Report {
    private static let titles = ["operation", "ours", "peer", "ratio", "cpu", "ratio", "target", ""]

    static func json(_ findings: [Finding]) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return String(decoding: try encoder.encode(findings), as: UTF8.self)
    }

    static func table(_ findings: [Finding]) -> String {
        let rows = [titles] + findings.map(cells)
        let widths = titles.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { line($0, widths) }.joined(separator: "\n")
    }

    private static func cells(_ finding: Finding) -> [String] {
        let isRatio = finding.ratio != nil
        let target = finding.target.map { isRatio ? times($0) : figure($0, finding.unit) }
        let verdict = finding.isMet.map { $0 ? "met" : "NOT MET" }
        return [
            finding.operation,
            figure(finding.ours, finding.unit),
            finding.peer.map { figure($0, finding.unit) } ?? "",
            finding.ratio.map(times) ?? "",
            finding.processor.map { figure($0, .seconds) } ?? "",
            finding.processorRatio.map(times) ?? "",
            target.map { "at most \($0)" } ?? "",
            [verdict, finding.note].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: "; "),
        ]
    }

    /// Aligns text left and figures right.
    private static func line(_ cells: [String], _ widths: [Int]) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() {
            let padding = String(repeating: " ", count: widths[column] - cell.count)
            line += (column == 0 || column == cells.count - 1 ? cell + padding : padding + cell) + "  "
        }
        while line.last == " " { line.removeLast() }
        return line
    }

    private static func times(_ ratio: Double) -> String { decimal(ratio, places: 2) + "x" }

    static func figure(_ value: Double, _ unit: Finding.Unit) -> String {
        switch unit {
        case .bytes where value < 1_048_576: decimal(value / 1024, places: 1) + " KiB"
        case .bytes: decimal(value / 1_048_576, places: 1) + " MiB"
        case .seconds where value < 1e-3: decimal(value * 1e6, places: 2) + " us"
        case .seconds where value < 1: decimal(value * 1e3, places: 2) + " ms"
        case .seconds: decimal(value, places: 2) + " s"
        }
    }

    private static func decimal(_ value: Double, places: Int) -> String {
        guard value.isFinite, value < 1e12 else { return "\(value)" }
        // A difference of two figures.
        if value < 0 { return "-" + decimal(-value, places: places) }
        let scale = places == 1 ? 10 : 100
        let scaled = Int((value * Double(scale)).rounded())
        let fraction = String(scaled % scale)
        return "\(scaled / scale)." + String(repeating: "0", count: places - fraction.count) + fraction
    }
}

/// A line of the report.
struct Finding: Encodable {
    enum Unit: String, Encodable {
        case seconds, bytes
    }

    let operation: String
    /// The name of the compared program; nil for a single figure.
    var peerName: String?
    let unit: Unit
    let ours: Double
    var peer: Double?
    /// The median of the rounds' ratios, which is not the ratio of the medians.
    var ratio: Double?
    /// The processor time of ours, if times are measured, and its ratio to the peer's.
    var processor: Double?
    var processorRatio: Double?
    /// The maximum of `ratio`, or of `ours` without a peer.
    var target: Double?
    var note = ""

    /// `true` if the target is met; nil without a target.
    var isMet: Bool? { target.map { (ratio ?? ours) <= $0 } }

    /// Creates a finding from a comparison of times.
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

    /// Creates a finding from a time of ours.
    init(_ operation: String, _ times: Times, target: Double? = nil, note: String = "") {
        self.init(operation, times.wall, .seconds, target: target, note: note)
        processor = times.processor
    }

    /// Adds the peer's figure.
    mutating func compare(with peer: Double, _ name: String) {
        peerName = name
        self.peer = peer
        ratio = ours / peer
        note = note.isEmpty ? "against \(name)" : note
    }

    /// Creates a finding from a figure of ours.
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
