internal import AuditReports
internal import CryptoPrimitives
internal import FoundationEssentials
internal import Glibc
internal import SealedState
internal import Sealing
internal import SharedFiles

/// The edit of a record's JSON in a person's editor. The plaintext is a file in memory meanwhile. It is wiped in every
/// case but one: an edit that could not be sealed is the person's only copy.
struct EditSession: ~Copyable {
    private let record: EditedRecord
    private let store: SealedStore
    private let schemaVersion: UInt32
    private let notAfter: UInt64
    private let leaf: String
    /// The options of `sealctl put` that lead it to the same store.
    private let options: [String]

    /// The saved text.
    private enum Saved {
        case unchanged
        case payload(Data)
        case unusable(Failure)
    }

    /// - Parameters:
    ///   - schemaVersion: `nil` keeps the record's version.
    ///   - lifetime: `nil` keeps the record's expiry.
    ///   - options: The options of `sealctl put` that lead it to the store.
    init(
        _ record: consuming EditedRecord, in store: SealedStore, schemaVersion: UInt32?, lifetime: Lifetime?,
        options: [String]
    ) {
        self.options = options
        self.schemaVersion = schemaVersion ?? record.schemaVersion
        notAfter = lifetime.map { Timestamp.now.milliseconds + $0.seconds * 1000 } ?? record.notAfter
        leaf = (record.name.split(separator: "/").last.map { String($0) } ?? "record") + ".json"
        self.record = record
        self.store = store
    }

    /// Returns the record's new sequence, or `nil` if nothing changed or a signal arrived.
    borrowing func run(_ signals: borrowing HeldSignals) throws(Failure) -> UInt64? {
        let place = try MemoryPlace.make()
        var isKept = false
        defer { if !isKept { place.wipe() } }
        guard let edited = try edit(in: place, signals) else { return nil }
        do throws(StoreError) { return try seal(edited) } catch {
            isKept = true
            throw kept(Failure(error), in: place)
        }
    }

    private borrowing func edit(in place: MemoryPlace, _ signals: borrowing HeldSignals) throws(Failure) -> Data? {
        do throws(FileError) {
            try record.text.withShown { bytes throws(FileError) in try place.write(bytes, as: leaf) }
        } catch { throw Self.unwritten(error) }
        let editor = Editor()
        while true {
            try editor.run(on: place.path(leaf), signals)
            if signals.hasCaught { return nil }
            switch try saved(in: place) {
            case .unchanged: return nil
            case .payload(let payload): return payload
            case .unusable(let failure):
                if Interaction.isAllowed, EditPrompt.again(failure.message) { continue }
                throw Failure(
                    failure.status, failure.code, "cannot seal \(record.name): \(failure.message)", hint: failure.hint)
            }
        }
    }

    private borrowing func saved(in place: MemoryPlace) throws(Failure) -> Saved {
        let limit = store.options.maximumRecordSize
        return try place.withContents(of: leaf, limit: limit) { bytes throws(Failure) in
            if record.text.isUnchanged(bytes) { return .unchanged }
            guard bytes.count <= limit else {
                return .unusable(Failure(.dataError, "tooLarge", "it has more than \(limit) bytes", hint: Self.wiped))
            }
            do throws(JSONFault) { try JSONChecker.checkInput(bytes, maximumDepth: store.options.maximumDepth) } catch {
                let place = "line \(error.line), column \(error.column)"
                return .unusable(Failure(.dataError, "notJSON", "\(place): \(error.reason)", hint: Self.wiped))
            }
            return .payload(Data(record.text.payload(bytes)))
        }
    }

    private static let wiped = "Nothing was written; the edit was wiped."

    private borrowing func seal(_ json: consuming Data) throws(StoreError) -> UInt64 {
        // Without a class the record keeps the class of the value that it replaces.
        let payload = RecordPayload(
            json, codec: .json, schemaVersion: schemaVersion, notAfter: notAfter, protection: nil)
        defer { payload.wipe() }
        return try store.write(payload: payload, named: record.name, onlyIf: record.condition)
    }

    private borrowing func kept(_ failure: Failure, in place: MemoryPlace) -> Failure {
        let directory = place.keep(leaf)
        let path = "\(directory)/\(leaf)"
        let put = ["sealctl", "put", record.name, path] + options + condition + meaning
        let words = put.map(\.shellQuoted).joined(separator: " ")
        // No end mark follows a command that is to be copied.
        return Failure(
            failure.status, failure.code,
            "\(failure.message); the edit is kept in memory, in \(path.shellQuoted)",
            hint: "Check the present record; then run: \(words) && "
                + "shred -u \(path.shellQuoted) && rmdir \(directory.shellQuoted)")
    }

    /// The condition on the record as it is now, which the person is to review, so that the edit does not overwrite a
    /// third writer's value.
    private var condition: [String] {
        do throws(StoreError) {
            let present = try store.following().openPayload(named: record.name)
            return ["--if-sequence", String(present.header.header.sequence)]
        } catch { return error.code == .absent ? ["--if-absent"] : [] }
    }

    /// The options for the values that the edit would have been sealed with. A record expires at a time, but `put`
    /// takes a duration from now.
    private var meaning: [String] {
        let version = ["--schema-version", String(schemaVersion)]
        guard notAfter > 0 else { return version }
        let now = Timestamp.now.milliseconds
        return version + ["--expires-in", "\(notAfter > now ? (notAfter - now + 999) / 1000 : 1)s"]
    }

    /// Returns a failure whose advice names no disk, because plaintext is never written to one.
    private static func unwritten(_ error: FileError) -> Failure {
        let failure = Failure(error, .output)
        return Failure(
            failure.status, failure.code, failure.message,
            hint: "Free some space there, or set XDG_RUNTIME_DIR to another place in memory; nothing was written.")
    }
}

/// A question on the terminal that offers to continue editing. It is used while signals are held back.
enum EditPrompt {
    /// - Parameter problem: The fault in the saved text.
    /// - Returns: `false` also without a terminal.
    static func again(_ problem: String) -> Bool {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return false }
        defer { close(terminal) }
        let text = Array("sealctl: \(problem.printable). Edit again? [Y/n] ".utf8)
        _ = text.withUnsafeBytes { write(terminal, $0.baseAddress, $0.count) }
        guard Interruption.awaitInput(terminal) else { return false }
        var answer = [UInt8](repeating: 0, count: 64)
        let count = read(terminal, &answer, answer.count)
        // The end of the input is not a consent.
        guard count > 0 else { return false }
        let word = String(decoding: answer[..<count].prefix { $0 != 0x0A }, as: UTF8.self).lowercased()
        return ["", "y", "yes"].contains(word)
    }
}
