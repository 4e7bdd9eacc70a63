internal import AppGroups
internal import ArgumentParser
internal import SealedState
internal import Sealing

/// `--name` of `encrypt`, `decrypt` and `inspect`: the name that a stream is bound to.
struct StreamNameOption: ParsableArguments {
    @Option(
        name: .customLong("name"),
        help: ArgumentHelp("The name that the stream is bound to; it opens under no other.", valueName: "NAME"))
    var text: String?

    /// Returns the place of a stream of this name, or of a nameless stream.
    ///
    /// - Throws: `Failure` with `invalidName` for a name that no record could have.
    func context(in group: AppGroup) throws(Failure) -> BlobContext {
        guard let text else { return BlobContext(streamOf: group) }
        return BlobContext(streamOf: group, named: try checked(text))
    }

    /// Returns the stated name and its place; `nil` where no name was stated.
    func expected(in group: AppGroup?) throws(Failure) -> (name: String, context: BlobContext)? {
        guard let text, let group else { return nil }
        return (text, try context(in: group))
    }

    private func checked(_ text: String) throws(Failure) -> String {
        do throws(StoreError) { return try RecordName(text).text } catch {
            throw Failure(
                StatusTable.status(of: error.code), error.code.rawValue,
                "cannot use the stream name \"\(text.printable)\": \(error.reason)",
                hint: "A name looks like backup.tar or backups/2026-11-23.")
        }
    }
}
