internal import AppGroups
internal import Glibc
internal import SealedState
internal import SharedFiles
internal import SystemPackage

/// What `inspect` was asked to look at.
///
/// The rule: `-` is standard input. What begins with `/`, `./` or `../`, or names something that exists, is a file, unless
/// `--record` says otherwise; so is everything where no group is known. All else is a record's name.
struct InspectionTarget {
    let input: InputFile
    /// The record's name, where its place tells it.
    let record: String?

    static func find(
        _ argument: String, isRecord: Bool, group: AppGroup?, home: GroupsHome?
    ) throws(Failure) -> InspectionTarget {
        guard let group, let home, isRecord || !looksLikeFile(argument) else {
            let input = try InputFile(argument)
            return InspectionTarget(input: input, record: recordName(of: argument, group: group, home: home))
        }
        let container = try Failure.onGroup { () throws(AppGroupError) in
            try GroupContainer.open(group, in: home, creating: false)
        }
        let name = try Failure.onStore { () throws(StoreError) in try RecordName(argument) }
        let path = "\(ContainerLayout.records)/\(name.text)\(ContainerLayout.recordSuffix)"
        do throws(FileError) {
            return InspectionTarget(
                input: try InputFile(owning: container.root.openForReading(path)), record: name.text)
        } catch {
            guard error.code == .notFound else { throw Self.refusal(error, name) }
            throw Failure(
                .notFound, "absent", "cannot inspect \(name.text): no record or file has that name",
                hint: "Try sealctl list --group \(group) to see what is there.")
        }
    }

    /// A link, a pipe or a directory in a record's place is a refused record, as it is for `get`.
    private static func refusal(_ error: FileError, _ name: RecordName) -> Failure {
        guard error.code == .unsafePath || error.code == .notRegularFile else { return Failure(error) }
        return Failure(
            StoreError(.malformed, "inspect", name.text, error.sentence, advice: error.advice, cause: error))
    }

    private static func looksLikeFile(_ argument: String) -> Bool {
        if argument == "-" || ["/", "./", "../"].contains(where: { argument.hasPrefix($0) }) { return true }
        var status = stat()
        return lstat(argument, &status) == 0
    }

    /// A path below the group's own container that is a record's place is a record as well: the name that it has to fit is
    /// known.
    private static func recordName(of argument: String, group: AppGroup?, home: GroupsHome?) -> String? {
        guard let group, let home, let file = real(argument),
            let container = try? GroupContainer.place(of: group, in: home), let root = real(container.string),
            file.hasPrefix(root + "/")
        else { return nil }
        return RecordFile.name(of: String(file.dropFirst(root.count + 1)))?.text
    }

    private static func real(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
