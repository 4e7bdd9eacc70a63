import ContentDecoding

/// A value as a test compares it: copied, because a value lives only while it is visited.
struct SeenValue: Equatable, CustomStringConvertible {
    var place: String
    var name: String?
    var text: String
    var range: Range<Int64>?
    var line: Int?
    var form: CarrierForm
    var presence: DecodedValue.Presence

    init(_ leaf: DecodedValue) {
        place = leaf.trail.text
        name = leaf.name.map { String(decoding: $0, as: UTF8.self) }
        range = leaf.range
        form = leaf.form
        presence = leaf.presence
        line = nil
        switch leaf.value {
        case .text(let bytes), .data(let bytes), .strings(let bytes): text = String(decoding: bytes, as: UTF8.self)
        case .block(let bytes, let line):
            text = String(decoding: bytes, as: UTF8.self)
            self.line = line
        case .number(let number): text = "\(number)"
        case .flag(let flag): text = "\(flag)"
        }
    }

    var description: String { "\(place) \(name ?? "-") \(text.prefix(60)) \(form) \(presence)" }
}

/// The result of reading one carrier.
struct SeenCarrier {
    var leaves: [SeenValue] = []
    var unread: [CarrierBudget.Unread] = []
    var fault: CarrierFault?

    /// Reads bytes like a file of that name.
    init(_ bytes: [UInt8], named name: String = "", budget: CarrierBudget = CarrierBudget()) {
        self.init(MemorySource(bytes), named: name, budget: budget)
    }

    init(_ source: any ByteSource, named name: String = "", budget: CarrierBudget = CarrierBudget()) {
        var seen: [SeenValue] = []
        let walk = ValueWalk(budget: budget) { seen.append(SeenValue($0)) }
        do throws(CarrierFault) { try Carriers.read(CarrierInput(source, name: name), walk) } catch { fault = error }
        leaves = seen
        unread = budget.unread
    }
}
