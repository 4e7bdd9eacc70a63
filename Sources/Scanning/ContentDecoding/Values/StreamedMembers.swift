/// The members of one object that is read once, from its beginning. A value that a later member may name waits until
/// the object ends.
struct StreamedMembers {
    enum Value {
        case text(UnsafeRawBufferPointer, isVerbatim: Bool)
        case data(UnsafeRawBufferPointer, isVerbatim: Bool)
        case number(Double)
        case flag(Bool)
    }

    private struct Waiting {
        enum Kind {
            case text(isVerbatim: Bool)
            case data(isVerbatim: Bool)
            case scalar(Value)
        }

        let key: [UInt8]
        let role: SiblingNames.Role
        let kind: Kind
        let bytes: [UInt8]
        let range: Range<Int64>?

        func value(_ bytes: UnsafeRawBufferPointer) -> Value {
            switch kind {
            case .text(let isVerbatim): .text(bytes, isVerbatim: isVerbatim)
            case .data(let isVerbatim): .data(bytes, isVerbatim: isVerbatim)
            case .scalar(let value): value
            }
        }
    }

    /// The limit on waiting bytes in one object. Longer values are visited under their keys alone.
    private static let mostBytes = 4096
    private static let most = 4

    private var names = SiblingNames()
    private var waiting: [Waiting] = []
    private var waitingBytes = 0
    private let form: CarrierForm

    init(form: CarrierForm) { self.form = form }

    /// Visits the value of a member whose key is already in the trail, or lets it wait.
    mutating func take(
        _ value: Value, key: UnsafeRawBufferPointer, range: Range<Int64>?, _ walk: ValueWalk
    ) throws(CarrierFault) {
        guard let role = SiblingNames.role(of: key) else { return try value.visit(name: key, range, form: form, walk) }
        if case .text(let text, _) = value { names.learn(text, role) }
        if let name = names.name(of: role, key: key) { return try visit(value, called: name, role, range, walk) }
        guard waits(value, role) else { return try value.visit(name: key, range, form: form, walk) }
        let (bytes, kind) = Self.parts(value)
        waitingBytes += bytes.count
        waiting.append(Waiting(key: Array(key), role: role, kind: kind, bytes: Array(bytes), range: range))
    }

    /// Visits the waiting values at the end of the object, when no further member can name them.
    mutating func end(_ walk: ValueWalk) throws(CarrierFault) {
        if waiting.isEmpty { return }
        for member in waiting {
            walk.trail.enter(.key(String(decoding: member.key, as: UTF8.self)))
            try member.key.span.withUnsafeBytes { key throws(CarrierFault) in
                try member.bytes.span.withUnsafeBytes { bytes throws(CarrierFault) in
                    if let name = names.name(of: member.role, key: key) {
                        try visit(member.value(bytes), called: name, member.role, member.range, walk)
                    } else {
                        try member.value(bytes).visit(name: key, member.range, form: form, walk)
                    }
                }
            }
            walk.trail.leave()
        }
        waiting.removeAll()
    }

    private func waits(_ value: Value, _ role: SiblingNames.Role) -> Bool {
        guard waiting.count < Self.most else { return false }
        if case .number = value { return false }
        let bytes = Self.parts(value).bytes
        guard waitingBytes + bytes.count <= Self.mostBytes else { return false }
        if role == .value { return true }
        // Only potential parts of a key wait: random letters of base64url.
        return role.isPrivatePart && bytes.count >= 16
            && bytes.allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x7A ~= $0 | 0x20 || $0 == 0x2D || $0 == 0x5F }
    }

    private static func parts(_ value: Value) -> (bytes: UnsafeRawBufferPointer, kind: Waiting.Kind) {
        switch value {
        case .text(let bytes, let isVerbatim): (bytes, .text(isVerbatim: isVerbatim))
        case .data(let bytes, let isVerbatim): (bytes, .data(isVerbatim: isVerbatim))
        case .number, .flag: (UnsafeRawBufferPointer(start: nil, count: 0), .scalar(value))
        }
    }

    private func visit(
        _ value: Value, called name: [UInt8], _ role: SiblingNames.Role, _ range: Range<Int64>?, _ walk: ValueWalk
    ) throws(CarrierFault) {
        let words = role == .value ? SiblingNames.words(for: name) : nil
        if let words { walk.trail.enter(.words(words)) }
        try name.span.withUnsafeBytes { name throws(CarrierFault) in
            try value.visit(name: name, range, form: form, walk)
        }
        if words != nil { walk.trail.leave() }
    }
}

extension StreamedMembers.Value {
    /// Visits the value and searches it for nested carriers.
    func visit(
        name: UnsafeRawBufferPointer?, _ range: Range<Int64>?, form: CarrierForm, _ walk: ValueWalk
    ) throws(CarrierFault) {
        switch self {
        case .text(let text, let isVerbatim):
            try walk.text(text, name: name, range: range, form: form, isVerbatim: isVerbatim)
        case .data(let data, let isVerbatim):
            try walk.data(data, name: name, range: range, form: form, isVerbatim: isVerbatim)
        case .number(let number): try walk.visit(name: name, .number(number), range: range, form: form)
        case .flag(let flag): try walk.visit(name: name, .flag(flag), range: range, form: form)
        }
    }
}
