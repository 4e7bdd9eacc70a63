internal import SealedState

/// Blobs of a container under keys that the vault does not contain. After a completed rotation a backup's keys no
/// longer open them, so a command that completes a rotation asks first or waits.
struct UnknownKeyBlobs {
    private let paths: [String]

    /// Creates an empty list.
    init() { paths = [] }

    /// - Parameter store: The store; `nil` without a container, which has no blobs.
    /// - Throws: `Failure` if the container cannot be searched.
    init(in store: SealedStore?) throws(Failure) {
        guard let store else {
            paths = []
            return
        }
        paths = try Failure.onStore { () throws(StoreError) in try store.blobsWithoutKey() }
    }

    var isEmpty: Bool { paths.isEmpty }

    /// The blobs, as the subject of a sentence.
    private var named: String {
        let count = paths.count == 1 ? "1 blob is" : "\(paths.count) blobs are"
        return "\(count) sealed under keys that the vault does not hold: \(Affected.list(paths, orElse: ""))."
    }

    /// The losses by a completed rotation; may be empty.
    var sentences: [String] {
        guard !isEmpty else { return [] }
        return [
            named,
            "After the rotation is completed, a backup that holds those keys does not open them. Import it first: "
                + "sealctl vault import.",
        ]
    }

    /// The advice while a rotation waits for the blobs.
    var hint: String {
        "\(named) Import the backup that holds their keys (sealctl vault import), then run: sealctl vault rotate. To "
            + "abandon them instead: sealctl vault rotate --yes."
    }
}
