internal import ContentDecoding
internal import SecretDetection
internal import SharedFiles

/// Reads one file value by value, and passes every value to the search for secrets and to the inspectors of values.
final class ContentScan {
    private let subject: AuditSubject
    private let scope: AuditScope
    private let found: ValueFindings
    private let search: ValueSearch
    private let budget: CarrierBudget

    init(_ subject: AuditSubject, in scope: AuditScope, _ suppressions: Suppressions) {
        self.subject = subject
        self.scope = scope
        found = ValueFindings(subject, in: scope, suppressions)
        search = ValueSearch(subject, in: scope, found)
        let limits = scope.limits
        budget = CarrierBudget(
            depth: limits.maximumNesting, values: limits.maximumValues, inflated: limits.maximumInflatedBytes,
            time: limits.maximumFileTime)
    }

    /// Returns whether a file is read: unsealed content, including a blob with a refused header.
    static func concerns(_ subject: AuditSubject) -> Bool {
        subject.attributes.kind == .regular && (subject.content.isPlaintext || subject.content == .sealedUnknown)
    }

    /// - Throws: `FileError` if the file cannot be opened, `.notFound` if it is gone.
    func run() throws(FileError) -> ValueFindings.Result {
        let source = try EntryContents(of: scope).source(of: subject.entry)
        let walk = ValueWalk(budget: budget) { [search] leaf in search.visit(leaf) }
        search.begin(walk)
        defer { search.end() }
        do throws(CarrierFault) { try read(source, walk) } catch { budget.note(error, at: "") }
        if source.isCut { budget.note(.cut, at: "") }
        search.conclude()
        UnreadParts(budget.unread).report(to: found)
        return found.result()
    }

    private func read(_ file: any ByteSource, _ walk: ValueWalk) throws(CarrierFault) {
        let end = min(file.count, scope.limits.maximumReadBytes)
        let head = try file.bytes(at: 0, count: Int(min(end, Int64(Carriers.headSize))))
        let form = Carriers.form(of: head, name: String(subject.entry.leaf))
        // A short file is always parsed, because names of switches are not keywords of the search.
        if form == .json, end > Self.parsedInAnyCase, try !SuspicionScan(file, to: end).isSuspicious() { return }
        let source: any ByteSource = end < file.count ? SourcePart(of: file, 0..<end) : file
        let directory = subject.path.dropLast(subject.entry.leaf.utf8.count)
        let isRecord = subject.entry.record != nil
        let input = CarrierInput(source, name: String(subject.entry.leaf)) { [scope] name in
            // The root refuses a name that leads out of the container, or to an object other than a file.
            let path = String(directory + name)
            if let database = scope.database, let facts = try? scope.root.attributes(path),
                database.owns(path, facts)
            {
                return nil
            }
            guard !isRecord, let file = try? scope.root.openForReading(path) else { return nil }
            return try? FileSource(file)
        }
        do throws(CarrierFault) { try Carriers.read(input, as: form, walk) } catch {
            try readAsBytes(input, form, walk, after: error)
        }
        if form == .binary, let reason = UnreadForm.reason(head, of: file, subject) { throw .unsupported(reason) }
        if end < file.count {
            budget.note(.unsupported("it is longer than \(end) byte\(end == 1 ? "" : "s")"), at: "")
        }
    }

    /// Searches damaged content, or a form that its reader does not support, as bytes, because it may still contain
    /// secrets.
    private func readAsBytes(
        _ input: CarrierInput, _ form: CarrierForm, _ walk: ValueWalk, after fault: CarrierFault
    ) throws(CarrierFault) {
        switch fault {
        case .malformed, .unsupported: try Carriers.read(input, as: .binary, walk)
        case .unreadable, .exhausted: break
        }
        throw fault
    }

    private static let parsedInAnyCase: Int64 = 64 << 10
}

/// A part of a file as a source of its own.
final class SourcePart: ByteSource {
    private let whole: any ByteSource
    private let range: Range<Int64>

    init(of whole: any ByteSource, _ range: Range<Int64>) {
        self.whole = whole
        self.range = range
    }

    var count: Int64 { Int64(range.count) }

    func read(at position: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(CarrierFault) -> Int {
        guard position >= 0, position < count else { return 0 }
        let size = min(buffer.count, Int(count - position))
        return try whole.read(
            at: range.lowerBound + position, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<size]))
    }

    func nextData(from position: Int64) -> Int64? {
        guard let next = whole.nextData(from: range.lowerBound + position), next < range.upperBound else { return nil }
        return next - range.lowerBound
    }
}

/// A check for possible secrets in a file before its structure is read.
struct SuspicionScan {
    private let source: any ByteSource
    private let end: Int64

    init(_ source: any ByteSource, to end: Int64) {
        self.source = source
        self.end = end
    }

    private static let blockSize = 256 << 10
    /// The overlap of two blocks, longer than any keyword, so that a keyword across the boundary is found in the
    /// second.
    private static let overlap = 256

    func isSuspicious() throws(CarrierFault) -> Bool {
        var position: Int64 = 0
        while position < end {
            let block = try source.bytes(at: position, count: min(Self.blockSize, Int(end - position)))
            if block.isEmpty { return false }
            if block.withUnsafeBytes(SecretSearcher.standard.isSuspicious) { return true }
            if position + Int64(block.count) >= end || block.count <= Self.overlap { return false }
            position += Int64(block.count - Self.overlap)
        }
        return false
    }
}
