package import FoundationEssentials
internal import KeyVault
package import Sealing

/// Time within a boot: `docs/decisions/0012-time-within-a-boot.md`.
extension RecordReader {
    /// Throws for a value that is not currently valid, by the wall clock or by its reading had it not been set since.
    package func checkFreshness<Record: SealedRecord>(
        of snapshot: RecordSnapshot<Record>, from blob: borrowing AcceptedBlob, at place: RecordPlace
    ) throws(StoreError) {
        if let end = snapshot.value.expiresAt, !end.timeIntervalSince1970.isFinite {
            throw StoreError(.invalid, "validate", place.name.text, "Its expiry is not a date.")
        }
        try checkFreshness(
            ValidityPeriod(of: snapshot), of: blob.header, anchor: blob.anchor, named: place.name.text,
            at: options.now(), isRemembered: true)
    }

    /// Checks the freshness of a payload without a type by its header alone. Nothing is remembered of a blob that was
    /// only examined.
    func checkFreshness(of blob: borrowing AcceptedBlob, at place: RecordPlace) throws(StoreError) {
        try checkFreshness(
            ValidityPeriod(blob.header), of: blob.header, anchor: blob.anchor, named: place.name.text,
            at: options.now(), isRemembered: blob.anchor.isKnown)
    }

    /// Checks, for tools, the times of a header that was verified before, as a read would. Nothing is remembered.
    ///
    /// - Parameters:
    ///   - name: The name for the rejection.
    ///   - now: The wall clock.
    package func checkFreshness(of header: BlobHeader, named name: String, at now: Date) throws(StoreError) {
        try checkFreshness(
            ValidityPeriod(header), of: header, anchor: .unknown, named: name, at: now, isRemembered: false)
    }

    private func checkFreshness(
        _ period: ValidityPeriod, of header: BlobHeader, anchor: ClockAnchor, named name: String, at now: Date,
        isRemembered: Bool
    ) throws(StoreError) {
        let wall = Freshness(now: now, skew: options.clockSkew)
        // By the wall clock alone: a clock that was wrong once must not make the future valid.
        try wall.requireBegun(period, named: name)
        guard period.hasEnd else { return }
        let elapsed = watermarks.anchor(of: header, asOf: anchor).date
        let isOverAnyway = elapsed.map(period.isOver) ?? false
        if period.isOver(at: wall.now) {
            // Only if that is new: a value that is stale by its anchor stays so until the machine restarts.
            if isRemembered && !isOverAnyway {
                watermarks.raise(ClockAnchor(atLeast: wall.now.timeIntervalSince1970), of: header)
            }
            throw wall.stale(period, named: name)
        }
        if isOverAnyway, let elapsed {
            throw Freshness(now: elapsed, skew: options.clockSkew).stale(period, named: name)
        }
    }
}

// MARK: Future changes

extension RecordReader {
    /// Returns the time at which a read's answer will change with time alone; nil for never.
    ///
    /// A valid value expires then; if it replaces one that is not valid yet, that one becomes valid. The time is
    /// computed from the current wall clock: callers that wait ask again when the clock was set, and at that time.
    func nextChange<Record: SealedRecord>(
        of snapshot: RecordSnapshot<Record>, named name: String = Record.recordName
    ) -> Date? {
        let beginning = snapshot.rejection.flatMap { $0.code == .notYetValid ? change(ofRefused: name) : nil }
        return [end(of: snapshot, named: name), beginning].compactMap { $0 }.min()
    }

    /// Returns the time at which a record that is refused as `notYetValid` becomes valid; `nil` for any other record.
    func nextChange(ofRefused name: String) -> Date? {
        guard let place = try? places.place(stored: name),
            let prefix = try? head(at: place),
            let header = try? keys.verifyHeader(prefix, "read", place)
        else { return nil }
        let begins = Date(milliseconds: header.header.sealedAt) - options.clockSkew.seconds
        return begins > options.now() ? begins : nil
    }

    /// Returns the time for a record that was just refused as `notYetValid`. If that time has passed, or another blob
    /// is stored by now, returns the current time.
    func change(ofRefused name: String) -> Date { nextChange(ofRefused: name) ?? options.now() }

    private func end<Record: SealedRecord>(of snapshot: RecordSnapshot<Record>, named name: String) -> Date? {
        guard let place = try? places.place(stored: name) else { return nil }
        return end(of: ValidityPeriod(of: snapshot), sequence: snapshot.provenance.sequence, at: place)
    }

    /// Returns the end of validity of a value that was read without its type.
    func end(of header: BlobHeader, at place: RecordPlace) -> Date? {
        end(of: ValidityPeriod(header), sequence: header.sequence, at: place)
    }

    private func end(of period: ValidityPeriod, sequence: UInt64, at place: RecordPlace) -> Date? {
        guard let end = period.end else { return nil }
        let now = options.now()
        let known = watermarks.anchor(of: place.context.nameTag, sequence: sequence)
        let judged = max(now, known.date ?? now)
        // A maximum age may be reached exactly, and dates are rounded: a millisecond later the period is certainly
        // over.
        return now + max(0, end.timeIntervalSince(judged)) + 0.001
    }
}

extension ClockAnchor {
    /// The clock's current reading by this anchor.
    fileprivate var date: Date? { now.map { Date(timeIntervalSince1970: $0) } }
}
