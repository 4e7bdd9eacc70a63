extension GroupContainer {
    /// What its files take up now. Walks the whole container.
    public func usage() -> ContainerUsage { ContainerUsage(of: root) }

    /// The most bytes that its files may have, by the container's copy of the registry; nil for any number.
    ///
    /// - Throws: ``AppGroupError`` `damagedRegistry`, `file`.
    public func quota() throws(AppGroupError) -> Int64? { try ContainerCopy.read(in: root, of: group)?.quota }
}
