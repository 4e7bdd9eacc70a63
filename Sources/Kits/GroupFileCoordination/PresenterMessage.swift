/// A message between processes about presented items. One message is one packet.
///
/// A conversation: the process that wants access sends `prepare` and waits for `ready` or `failed`. At the end of the
/// access it sends `events`, if there were any, and closes. The end of the connection ends the access, so presenters
/// never wait for a dead process.
enum PresenterMessage: Sendable, Hashable {
    case prepare(presenters: [UInt64], items: [AnnouncedItem])
    case events([ItemEvent])
    case ready
    case failed(reason: String)

    static let maximumSize = 64 << 10
    static let maximumItems = 64
    static let maximumPresenters = 1024

    private static let magic: UInt32 = 0x314D_5053

    var bytes: [UInt8] {
        var writer = MessageWriter()
        writer.write(Self.magic)
        switch self {
        case .prepare(let presenters, let items):
            writer.write(UInt8(1))
            writer.write(UInt16(truncatingIfNeeded: presenters.count))
            for presenter in presenters { writer.write(presenter) }
            writer.write(UInt16(truncatingIfNeeded: items.count))
            for item in items {
                writer.write(item.needs.rawValue)
                writer.write(item.path.string)
            }
        case .events(let events):
            writer.write(UInt8(2))
            writer.write(UInt16(truncatingIfNeeded: events.count))
            for event in events { event.write(to: &writer) }
        case .ready: writer.write(UInt8(3))
        case .failed(let reason):
            writer.write(UInt8(4))
            writer.write(String(reason.prefix(64)))
        }
        return writer.bytes
    }

    /// Returns `nil` for all bytes that `bytes` does not produce.
    init?(_ bytes: [UInt8]) {
        var reader = MessageReader(bytes)
        guard bytes.count <= Self.maximumSize, reader.read() == Self.magic, let kind = reader.read(UInt8.self),
            let message = Self.read(kind, &reader), reader.isAtEnd
        else { return nil }
        self = message
    }

    private static func read(_ kind: UInt8, _ reader: inout MessageReader) -> PresenterMessage? {
        switch kind {
        case 1:
            guard let presenters = reader.readList(atMost: maximumPresenters, { $0.read(UInt64.self) }),
                let items = reader.readList(atMost: maximumItems, AnnouncedItem.init(from:))
            else { return nil }
            return .prepare(presenters: presenters, items: items)
        case 2: return reader.readList(atMost: maximumItems, ItemEvent.init(from:)).map { .events($0) }
        case 3: return .ready
        case 4: return reader.readText(atMost: 256).map { .failed(reason: $0) }
        default: return nil
        }
    }
}

extension AnnouncedItem {
    fileprivate init?(from reader: inout MessageReader) {
        guard let needs = reader.read(UInt8.self), needs < 64, let path = reader.readItem() else { return nil }
        self.init(path: path, needs: Needs(rawValue: needs))
    }
}

extension ItemEvent {
    fileprivate init?(from reader: inout MessageReader) {
        guard let kind = reader.read(UInt8.self), let path = reader.readItem() else { return nil }
        switch kind {
        case 1: self = .changed(path)
        case 2: self = .appeared(path)
        case 3: self = .gone(path)
        case 4:
            guard let new = reader.readItem() else { return nil }
            self = .moved(path, new)
        default: return nil
        }
    }

    fileprivate func write(to writer: inout MessageWriter) {
        switch self {
        case .changed(let item): Self.write(1, item, to: &writer)
        case .appeared(let item): Self.write(2, item, to: &writer)
        case .gone(let item): Self.write(3, item, to: &writer)
        case .moved(let old, let new):
            Self.write(4, old, to: &writer)
            writer.write(new.string)
        }
    }

    private static func write(_ kind: UInt8, _ item: ItemPath, to writer: inout MessageWriter) {
        writer.write(kind)
        writer.write(item.string)
    }
}

/// An event that a coordinated writer caused.
enum ItemEvent: Sendable, Hashable {
    case changed(ItemPath)
    case appeared(ItemPath)
    case gone(ItemPath)
    case moved(ItemPath, ItemPath)

    /// A notice to a presenter of a path.
    enum Notice: Sendable, Hashable {
        case changed
        case moved(ItemPath)
        case subitemChanged(ItemPath)
        case subitemAppeared(ItemPath)
        case subitemMoved(ItemPath, ItemPath)
    }

    /// Returns the event as it is accepted from another unix user.
    ///
    /// A presenter writes to its item's path with its own user's rights. Another user may therefore redirect it only
    /// within the domain's scope, where that user could move the file as well.
    func confined(to scope: ItemPath?) -> ItemEvent {
        guard case .moved(let old, let new) = self else { return self }
        if let scope, scope.contains(old), scope.contains(new), (try? ItemPath(new.string)) == new { return self }
        return .changed(old)
    }

    /// Returns `nil` if the event does not concern that presenter.
    func notice(at presented: ItemPath) -> Notice? {
        switch self {
        case .changed(let item):
            presented == item ? .changed : presented.contains(item) ? .subitemChanged(item) : nil
        case .appeared(let item):
            presented == item ? .changed : presented.contains(item) ? .subitemAppeared(item) : nil
        // Its own presenters were notified before.
        case .gone(let item): presented.contains(item) ? .subitemChanged(item) : nil
        case .moved(let old, let new): notice(at: presented, old, new)
        }
    }

    private func notice(at presented: ItemPath, _ old: ItemPath, _ new: ItemPath) -> Notice? {
        if let place = presented.moved(from: old, to: new) { return .moved(place) }
        if presented.contains(old) { return .subitemMoved(old, new) }
        return presented.contains(new) ? .subitemAppeared(new) : nil
    }
}

/// Builds a message or registration: little-endian numbers, and texts with their length before them.
struct MessageWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }

    mutating func write(_ text: String) {
        write(UInt16(truncatingIfNeeded: text.utf8.count))
        bytes += text.utf8
    }
}

/// A reader of bytes from another process; returns `nil` if they end early.
struct MessageReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func read<Number: FixedWidthInteger>(_: Number.Type = Number.self) -> Number? {
        let size = MemoryLayout<Number>.size
        guard rest.count >= size else { return nil }
        defer { rest = rest.dropFirst(size) }
        return rest.prefix(size).reversed().reduce(Number(0)) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    mutating func readText(atMost limit: Int) -> String? {
        guard let count = read(UInt16.self), count <= limit, rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return String(validating: rest.prefix(Int(count)), as: UTF8.self)
    }

    mutating func readItem() -> ItemPath? {
        readText(atMost: ItemPath.maximumLength).flatMap { ItemPath(claimed: $0) }
    }

    /// - Parameter limit: a larger count is rejected before anything is allocated.
    mutating func readList<Element>(
        atMost limit: Int, _ element: (inout MessageReader) -> Element?
    ) -> [Element]? {
        guard let count = read(UInt16.self), count <= limit else { return nil }
        var list: [Element] = []
        for _ in 0..<count {
            guard let next = element(&self) else { return nil }
            list.append(next)
        }
        return list
    }
}
