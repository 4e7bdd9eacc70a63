package import AppGroups
internal import CryptoPrimitives
internal import KeyVault
internal import SealedBackends
package import Sealing
internal import SharedFiles

/// The files of mailboxes, for tools.
package enum MailFile {
    /// The largest segment that is read.
    package static let largestSize = MailSegment.largestSize

    /// Returns the mailbox of a segment; nil for a path that no segment has.
    package static func mailbox(of path: String) -> MailboxName? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == ContainerLayout.mailboxes, let mailbox = try? MailboxName(String(parts[1])),
            let segment = MailSegmentName(leaf: String(parts[2])), (try? mailbox.lane(of: segment.producer)) != nil
        else { return nil }
        return mailbox
    }

    /// Returns the context of the blob that begins a segment; nil for a path that no segment has, or that of a segment
    /// that begins with another number than the blob's.
    package static func coverContext(
        of path: String, _ cover: BlobHeader, in group: AppGroup
    ) -> BlobContext? {
        guard let place = MailSegmentName.place(of: path, in: group), place.first == cover.sequence,
            place.lane.coverContext.nameTag == cover.nameTag
        else { return nil }
        return place.lane.coverContext
    }
}

extension SealedStore {
    /// Returns the reasons for which messages of a segment are refused, and the number of its messages.
    package func mailFaults(of path: String) throws(StoreError) -> (count: Int, faults: [StoreError]) {
        guard let (lane, first) = MailSegmentName.place(of: path, in: group),
            let segment = try mailSegment(lane, first: first)
        else { return (0, []) }
        var faults: [StoreError] = []
        for frame in segment.frames {
            do throws(StoreError) {
                let opened = try reader.openWhole(
                    segment.blob(frame), "read", lane.place, limit: MailSegment.largestSize)
                _ = try reader.requireAuthority(of: opened, at: lane.place)
            } catch { faults.append(error) }
        }
        if segment.end < segment.bytes.count, !segment.isTorn {
            faults.append(
                StoreError(.malformed, "read", path, "There are no messages after its byte \(segment.end)."))
        }
        return (segment.frames.count, faults)
    }

    /// The tags under which the messages of all producers of all mailboxes are accepted: no record has them.
    package var mailTags: Set<NameTag> {
        var tags: Set<NameTag> = []
        for mailbox in mailboxes {
            for producer in producers(of: mailbox) {
                guard let lane = try? MailLane(mailbox, producer, in: group) else { continue }
                tags.insert(lane.place.context.nameTag)
            }
        }
        return tags
    }

    /// The mailboxes with a record or a directory, by name. Nothing about them is authentic.
    package var mailboxes: [MailboxName] {
        let records = ((try? reader.heads(MailboxName.namePrefix)) ?? []).map {
            String($0.key.name.dropFirst(MailboxName.namePrefix.utf8.count))
        }
        let directories = (try? container.root.directory(ContainerLayout.mailboxes).entries().map(\.name)) ?? []
        return Set(records + directories).sorted().compactMap { try? MailboxName($0) }
    }

    /// The producers of a mailbox: those of its record, and those with segments.
    private func producers(of mailbox: MailboxName) -> Set<String> {
        var producers = Set(((try? mailSegments(of: mailbox)) ?? [:]).keys)
        if let place = try? places.place(reserved: mailbox.recordName.text), let blob = try? reader.judgedBlob(place),
            let state = try? reader.decodedSnapshot(of: MailboxState.self, from: blob, at: place).value
        {
            producers.formUnion(state.lanes.keys)
        }
        return producers
    }
}

// MARK: Messages without their type

/// A message with its payload as it was sent.
package struct MailView: Sendable {
    package let id: SealedStore.MailboxMessageID
    package let sentAt: UInt64
    /// The time from which on it is not delivered; 0 for none. Both in milliseconds since 1970.
    package let notAfter: UInt64
    package let schemaVersion: UInt32
    package let codec: PayloadCodec
    package let payload: [UInt8]
    package var isRedelivery = false
    package var failedAttempts = 0
    package var lostBefore = 0

    fileprivate init(_ blob: borrowing AcceptedBlob, _ lane: MailLane) {
        let header = blob.header
        id = SealedStore.MailboxMessageID(producer: lane.producer, number: header.sequence)
        (sentAt, notAfter) = (header.sealedAt, header.notAfter)
        (schemaVersion, codec) = (header.schemaVersion, header.codec)
        payload = blob.opened.plaintext.withUnsafeBytes { Array($0) }
    }
}

/// A dead letter for tools.
package struct MailDeadView: Sendable {
    package let id: SealedStore.MailboxMessageID
    package let reason: String
    /// Milliseconds since 1970.
    package let since: UInt64
    /// The message; nil if it cannot be read any more.
    package let message: MailView?
}

extension MailboxAccess {
    private static func view(
        _ blob: borrowing AcceptedBlob, _ lane: MailLane, _ reader: RecordReader
    ) throws(StoreError) -> MailView {
        try blob.opened.plaintext.withUnsafeBytes { bytes throws(StoreError) in
            try reader.requireSafeStructure(of: bytes, codec: blob.header.codec, named: lane.place.name.text)
        }
        return MailView(blob, lane)
    }

    /// Takes messages; see `Mailbox.take`.
    package func takeViews(upTo count: Int) throws(StoreError) -> [MailView] {
        try take(upTo: count, request(), Self.view).map { taken in
            var view = taken.value
            (view.isRedelivery, view.failedAttempts) = (taken.isRedelivered, taken.failedAttempts)
            view.lostBefore = taken.lostBefore
            return view
        }
    }

    /// Returns messages that wait, by producer and number, without taking them.
    package func waitingViews(upTo count: Int) throws(StoreError) -> [MailView] {
        try waiting(limit: count, Self.view).compactMap(\.value)
    }

    /// Returns the dead letters.
    package func deadViews() throws(StoreError) -> [MailDeadView] {
        try dead(Self.view).map { MailDeadView(id: $0.id, reason: $0.reason, since: $0.at, message: $0.value) }
    }

    /// Acknowledges messages that this process or one that has ended took.
    package func acknowledge(_ ids: [SealedStore.MailboxMessageID]) throws(StoreError) {
        try settle(ids.map { ($0, .handled) }, request())
    }

    /// Gives messages back.
    package func retry(_ ids: [SealedStore.MailboxMessageID], because reason: String) throws(StoreError) {
        try settle(ids.map { ($0, .retry(reason: reason, after: nil)) }, request())
    }

    /// Makes messages dead letters.
    package func reject(_ ids: [SealedStore.MailboxMessageID], because reason: String) throws(StoreError) {
        try settle(ids.map { ($0, .dead(reason: reason)) }, request())
    }

    /// Discards dead letters.
    package func discard(_ ids: [SealedStore.MailboxMessageID]) throws(StoreError) { try discard(ids, request()) }

    /// Discards all messages, and writes the mailbox's record again if it is missing or refused. Producers continue with
    /// their numbers.
    ///
    /// - Returns: The number of messages that waited or were dead.
    package func reset() throws(StoreError) -> Int {
        try store.onPresentContainer { store throws(StoreError) in
            let place = try store.places.place(reserved: mailbox.recordName.text)
            let old: MailboxState
            do throws(StoreError) { old = try MailboxState.read(mailbox, in: store) } catch {
                guard error.isRejection else { throw error }
                var new = MailboxState()
                new.floor = try store.reader.highestSequence()
                for producer in try store.mailSegments(of: mailbox).keys {
                    let lane = try MailLane(mailbox, producer, in: store.group)
                    new.lanes[producer] = MailboxState.Lane(after: try store.highestMail(lane, in: mailbox, nil).number)
                }
                _ = try store.writer.write(new, at: place, request())
                old = MailboxState()
            }
            var count = 0
            for producer in Set(try store.mailSegments(of: mailbox).keys).union(old.lanes.keys).sorted() {
                let lane = try MailLane(mailbox, producer, in: store.group)
                // Senders wait, so that no message is discarded that is sent meanwhile.
                let lock = try StoreError.onFiles("reset", mailbox.name) { () throws(FileError) in
                    try store.reader.locks.lock(lane.place.lock, timeout: store.options.lockTimeout)
                }
                let found = try store.highestMail(lane, in: mailbox, old.lanes[producer])
                try MailboxState.update(mailbox, in: store, request()) { state in
                    state.lanes[producer] = MailboxState.Lane(after: found.number)
                }
                for first in try store.mailSegments(of: mailbox)[producer] ?? [] {
                    try? store.container.root.remove(lane.path(first: first), durability: .unsynced)
                }
                count += found.count
                _ = consume lock
            }
            return count
        }
    }
}

extension SealedStore {
    /// Returns the highest number of a lane that is known, and the number of its messages that are not handled.
    fileprivate func highestMail(
        _ lane: MailLane, in mailbox: MailboxName, _ state: MailboxState.Lane?
    ) throws(StoreError) -> (number: UInt64, count: Int) {
        var number = max(
            state?.delivered ?? 0, state?.handled ?? 0,
            watermarks.mark(of: lane.place.context.nameTag)?.sequence ?? 0)
        var count = state?.dead.count ?? 0
        for first in try mailSegments(of: mailbox)[lane.producer] ?? [] {
            guard let segment = try mailSegment(lane, first: first) else { continue }
            for frame in segment.frames {
                guard let header = try? reader.keys.verifyHeader(segment.blob(frame), "reset", lane.place) else {
                    continue
                }
                if state?.isHandled(header.header.sequence) != true { count += 1 }
                number = max(number, header.header.sequence)
            }
        }
        return (number, count)
    }
}

extension SealedStore.MailboxMessageID {
    /// Parses `producer/number`; nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let number = UInt64(parts[1]), number > 0 else { return nil }
        self.init(producer: String(parts[0]), number: number)
    }
}
