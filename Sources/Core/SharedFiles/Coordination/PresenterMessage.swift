/// What processes say to each other about presented items. One message is one packet.
///
/// A conversation: who wants access sends `prepare` and waits for `ready` or `failed`; when it is done it sends `events`, if
/// there were any, and closes. Whatever ends the connection ends the access, so presenters never wait for a dead process.
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

    /// Nil for everything that `bytes` does not make.
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
