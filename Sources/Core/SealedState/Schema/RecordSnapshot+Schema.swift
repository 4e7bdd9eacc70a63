extension RecordSnapshot {
    /// Whether the value was written in an older schema version and brought to the present shape on read.
    public var isMigrated: Bool { provenance.schemaVersion < Record.schemaVersion }
}
