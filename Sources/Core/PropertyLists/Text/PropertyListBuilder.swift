/// Builds a property list from its parts, in the order of the text, within limits.
///
/// The builder keeps containers on its own stack, so that nested text does not cause nested calls.
struct PropertyListBuilder {
    enum Kind { case array, dictionary }

    private struct Container {
        let kind: Kind
        var values: [PropertyListValue] = []
        var members: [String: PropertyListValue] = [:]
        var key: String?
    }

    private let limits: StructureLimits
    private let repeatedKeys: RepeatedKeys
    private var stack: [Container] = []
    private var values = 0
    private var content = 0
    /// The complete property list, once all containers are closed.
    private(set) var whole: PropertyListValue?

    init(limits: StructureLimits, repeatedKeys: RepeatedKeys = .refused) {
        self.limits = limits
        self.repeatedKeys = repeatedKeys
    }

    /// The kind of the innermost container, or `nil` outside all containers.
    var innermost: Kind? { stack.isEmpty ? nil : stack[stack.count - 1].kind }

    var depth: Int { stack.count }

    mutating func open(_ kind: Kind) throws(StructureFault) {
        try requirePlace()
        try count()
        guard stack.count < limits.depth else { throw .tooDeep(limit: limits.depth) }
        stack.append(Container(kind: kind))
    }

    mutating func close() throws(StructureFault) {
        guard let container = stack.popLast() else { throw .malformed("an end tag without a start tag") }
        guard container.key == nil else { throw .malformed("a key without a value") }
        try place(container.kind == .array ? .array(container.values) : .dictionary(container.members))
    }

    mutating func key(_ key: String) throws(StructureFault) {
        guard innermost == .dictionary, stack[stack.count - 1].key == nil else {
            throw .malformed("a key outside a dictionary")
        }
        guard key.utf8.count <= StructureLimits.longestKey else { throw .longKey }
        try count()
        try take(key)
        stack[stack.count - 1].key = key
    }

    /// Adds a value that is not a container.
    mutating func add(_ value: PropertyListValue) throws(StructureFault) {
        try requirePlace()
        try count()
        switch value {
        case .string(let text): try take(text)
        case .data(let bytes): try take(size: bytes.count)
        default: break
        }
        try place(value)
    }

    private func requirePlace() throws(StructureFault) {
        guard whole == nil else { throw .malformed("more than one value") }
        guard innermost == .dictionary else { return }
        guard stack[stack.count - 1].key != nil else { throw .malformed("a value without a key") }
    }

    private mutating func place(_ value: PropertyListValue) throws(StructureFault) {
        guard let kind = innermost else {
            whole = value
            return
        }
        let last = stack.count - 1
        guard kind == .dictionary else {
            stack[last].values.append(value)
            return
        }
        guard let key = stack[last].key else { throw .malformed("a value without a key") }
        stack[last].key = nil
        // Also rejects keys that are other scalars of the same text. Otherwise the reader would have to choose one of
        // the values.
        guard stack[last].members.updateValue(value, forKey: key) == nil || repeatedKeys == .lastCounts else {
            throw .malformed("a key occurs twice")
        }
    }

    private mutating func count() throws(StructureFault) {
        values += 1
        guard values <= limits.values else { throw .tooManyValues(limit: limits.values) }
    }

    private mutating func take(_ text: String) throws(StructureFault) {
        try take(size: text.utf8.count)
        try PropertyList.checkMarks(text)
    }

    private mutating func take(size: Int) throws(StructureFault) {
        content += size
        guard content <= limits.size else { throw .tooMuchContent(limit: limits.size) }
    }
}
