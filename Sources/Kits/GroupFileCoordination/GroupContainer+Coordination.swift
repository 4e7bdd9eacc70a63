public import AppGroups
internal import SharedFiles

extension GroupContainer {
    /// Where every member of the group coordinates access to files of this container: a directory in the container, as
    /// private or shared as the container itself.
    ///
    /// - Throws: ``AppGroupError`` with `unsafeContainer`, `notShared`, `notADirectory` where that directory is not safe; `file`
    ///   for every other failure.
    public func coordinationDomain() throws(AppGroupError) -> CoordinationDomain {
        do throws(FileError) {
            let directory = try root.makeDirectory(ContainerLayout.coordination, sharing: sharing)
            try directory.requireSharing(sharing)
            return try CoordinationDomain(directory: directory, scope: path)
        } catch {
            throw AppGroupError(error, openingContainerOf: group)
        }
    }

    /// A coordinator for files of this container that meets every other member of the group.
    ///
    /// - Parameter presenter: Who does the operation, if it presents the item.
    /// - Throws: ``AppGroupError`` as ``coordinationDomain()``.
    public func fileCoordinator(
        presenter: (any FilePresenter)? = nil
    ) throws(AppGroupError) -> FileCoordinator {
        FileCoordinator(presenter: presenter, domain: try coordinationDomain())
    }
}
