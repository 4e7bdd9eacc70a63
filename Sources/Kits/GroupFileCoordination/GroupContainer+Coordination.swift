public import AppGroups
internal import SharedFiles

extension GroupContainer {
    /// Returns the domain in which the group's members coordinate access to files of this container: a directory in the
    /// container, as private or shared as the container itself.
    ///
    /// - Throws: ``AppGroupError`` with `unsafeContainer`, `notShared`, `notADirectory` if that directory is not safe;
    ///   `file` for every other failure.
    public func coordinationDomain() throws(AppGroupError) -> CoordinationDomain {
        do throws(FileError) {
            let directory = try root.makeDirectory(ContainerLayout.coordination, sharing: sharing)
            try directory.requireSharing(sharing)
            return try CoordinationDomain(directory: directory, scope: path)
        } catch {
            throw AppGroupError(error, openingContainerOf: group)
        }
    }

    /// Returns a coordinator for files of this container, in the domain of all members of the group.
    ///
    /// - Parameter presenter: The presenter of the item that does the operation.
    /// - Throws: ``AppGroupError`` as ``coordinationDomain()``.
    public func fileCoordinator(
        presenter: (any FilePresenter)? = nil
    ) throws(AppGroupError) -> FileCoordinator {
        FileCoordinator(presenter: presenter, domain: try coordinationDomain())
    }
}
