// The driver of `make run`: it starts an app and its widget on a new group container, tampers with their shared record,
// and checks at every step the output of the widget and the audit.
//
// It knows the two programs and sealctl only as processes and files; the library is not linked in.

import Glibc

/// Prints to standard error and exits.
func refuse(_ stop: Stop) -> Never {
    fflush(nil)
    var complaint = "account-demo: \(stop)\n"
    complaint.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    exit(stop.exitStatus)
}

do throws(Stop) {
    // Empty if /proc is hidden: the options are then unknown, not absent.
    guard !CommandLine.arguments.isEmpty else { throw .unavailable("the command line is not known: mount /proc") }
    let options = try Options(CommandLine.arguments.dropFirst())
    if options.wantsHelp {
        print(Options.help)
        exit(EXIT_SUCCESS)
    }
    Interruption.prepare()
    let programs = try Programs.find()
    let home = try DemoHome.make()
    let result = Demo(options: options, programs: programs, home: home).run()
    if options.keepsHome { home.keep() } else { home.remove() }
    if try !result.get() { exit(EXIT_FAILURE) }
} catch {
    refuse(error)
}
