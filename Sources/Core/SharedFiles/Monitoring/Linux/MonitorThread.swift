internal import CLinux
internal import Glibc

/// A detached thread for one engine, with every signal blocked: the program's signal handlers are not for it.
enum MonitorThread {
    static func start(_ engine: MonitorEngine) throws(FileError) {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        // The new thread inherits the mask, so that no signal finds it open for a moment.
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(engine)
        let number = pthread_create(&thread, nil, monitorThreadMain, context.toOpaque())
        if number != 0 {
            context.release()
            throw FileError(errno: number, operation: "start the thread that watches files", path: "inotify")
        }
        pthread_detach(thread)
    }
}

private func monitorThreadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    _ = clinux_name_thread("file-monitor")
    Unmanaged<MonitorEngine>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
