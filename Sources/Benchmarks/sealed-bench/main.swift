import CBaseline
import Glibc
import SharedFiles

/// In a function of its own: the workspace removes its directory when this returns.
func runBenchmarks(_ options: Options) throws -> [Finding] {
    guard cbaseline_start() == 0 else { throw BenchmarkFailure("libsodium cannot be initialized") }
    Interruption.watch()
    var runner = Runner(options)
    try SealingBenchmarks().run(in: &runner)
    let workspace = try Workspace(in: options.directory ?? Program.directory)
    try RecordBenchmarks(workspace).run(in: &runner)
    try OpeningBenchmarks(workspace: workspace).run(in: &runner)
    try DefaultsBenchmarks(workspace: workspace).run(in: &runner)
    try ItemBenchmarks(try Workspace(in: options.directory ?? Program.directory)).run(in: &runner)
    try MailboxBenchmarks(try Workspace(in: options.directory ?? Program.directory)).run(in: &runner)
    try ChannelBenchmarks(try Workspace(in: options.directory ?? Program.directory)).run(in: &runner)
    try WatermarkBenchmarks(try Workspace(in: options.directory ?? Program.directory)).run(in: &runner)
    try ValueBenchmarks(in: options.directory ?? Program.directory).run(in: &runner)
    try WriterBenchmarks(in: options.directory ?? Program.directory).run(in: &runner)
    #if SQLite
    let directory = options.directory ?? Program.directory
    try SQLiteBenchmarks(in: directory, count: options.records).run(in: &runner)
    try GrowthBenchmarks(in: directory, largest: options.records / 10).run(in: &runner)
    #endif
    try FileBenchmarks(in: options.directory ?? Program.directory, mebibytes: options.mebibytes).run(in: &runner)
    try StreamBenchmarks(workspace).run(in: &runner)
    try AuditBenchmarks(workspace).run(in: &runner)
    return runner.findings
}

#if SQLite
do {
    if try Crew.work(Array(ProgramArguments.withoutName)) { exit(0) }
} catch {
    say("sealed-bench: \(error)")
    exit(EX_SOFTWARE)
}
#endif

if ProgramArguments.all.contains("--help") {
    print(Options.usage)
    exit(0)
}
guard let options = Options(ProgramArguments.withoutName) else {
    say(Options.usage)
    exit(EX_USAGE)
}

do {
    let findings = try runBenchmarks(options)
    print(options.isJSON ? try Report.json(findings) : Report.table(findings))
    exit(options.isChecking && findings.contains { $0.isMet == false } ? 1 : 0)
} catch {
    say("sealed-bench: \(error)")
    exit(EX_SOFTWARE)
}
