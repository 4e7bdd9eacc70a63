/// What a monitor tells about a path.
package enum MonitorEvent: Sendable, Hashable {
    /// Something about the path may have changed.
    case changed
    /// Events were lost, or could not be had for a while: look again, at everything that hangs on the path.
    case rescan
}
