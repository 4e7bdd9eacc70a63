package import PropertyLists

extension StoreOptions {
    /// What the options say of a payload's structure.
    package var structureLimits: StructureLimits {
        StructureLimits(depth: maximumDepth, values: maximumValues, size: maximumRecordSize)
    }
}
