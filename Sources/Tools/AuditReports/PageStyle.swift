/// The page's style.
enum PageStyle {
    /// The SHA-256 of `text` in the form of a content security policy; a test computes it again.
    static let hash = "sha256-nU5uhK0nmSpFW1FO584ELxuFdzmb35GaBwxV3Vo3dJY="

    static let text = "\n" + [colours, page, charts, findings, tables, paper].joined(separator: "\n") + "\n"

    /// The colours, once for paper and once for a dark screen.
    private static let colours = """
        :root { color-scheme: light; --paper: #fbfaf7; --card: #fff; --ink: #1e1d1a; --muted: #68645c; --line: #e4e0d7;
          --track: #efece5; --link: #2a5f86; --critical: #93175a; --high: #c23a2b; --medium: #b46a00; --low: #2d6d8c;
          --info: #77736a; --good: #25754f; --open: #e2a24a; --sealed: #5aa583; --other: #c9c4b8; --on-tile: #1e1d1a; }
        :root[data-theme=dark] { color-scheme: dark; --paper: #141416; --card: #1c1c1f; --ink: #edece8; --muted: #a19d95;
          --line: #2f2f34; --track: #29292d; --link: #8fc1e6; --critical: #f07cb4; --high: #f58575; --medium: #efb054;
          --low: #7bbcdc; --info: #aaa69e; --good: #6cc89c; --open: #b97f2c; --sealed: #3c8163; --other: #56534d;
          --on-tile: #f6f4ef; }
        @media (prefers-color-scheme: dark) { :root:not([data-theme=light]) { color-scheme: dark; --paper: #141416;
          --card: #1c1c1f; --ink: #edece8; --muted: #a19d95; --line: #2f2f34; --track: #29292d; --link: #8fc1e6;
          --critical: #f07cb4; --high: #f58575; --medium: #efb054; --low: #7bbcdc; --info: #aaa69e; --good: #6cc89c;
          --open: #b97f2c; --sealed: #3c8163; --other: #56534d; --on-tile: #f6f4ef; } }
        .critical { --tone: var(--critical); } .high { --tone: var(--high); } .medium { --tone: var(--medium); }
        .low { --tone: var(--low); } .info { --tone: var(--info); }
        """

    private static let page = """
        * { box-sizing: border-box; }
        [hidden] { display: none !important; }
        body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.55 system-ui, -apple-system,
          'Segoe UI', 'Noto Sans', 'Liberation Sans', sans-serif; font-variant-numeric: tabular-nums;
          overflow-wrap: anywhere; }
        .top, main, footer { max-width: 1200px; margin: 0 auto; padding: 0 40px; }
        code, .path, .where b, .print { font-family: ui-monospace, 'SF Mono', Menlo, 'DejaVu Sans Mono', 'Liberation Mono',
          monospace; font-size: 0.88em; }
        h1, h2, h3, p, ul, dl { margin: 0; padding: 0; }
        ul { list-style: none; }
        a { color: var(--link); }
        a:focus-visible, button:focus-visible, input:focus-visible, summary:focus-visible { outline: 2px solid
          var(--link); outline-offset: 2px; }
        .top { padding-top: 28px; padding-bottom: 32px; }
        .bar { display: flex; justify-content: space-between; align-items: center; margin-bottom: 44px; }
        .brand { display: flex; gap: 8px; align-items: center; font-weight: 600; color: var(--muted); }
        button { font: inherit; font-size: 13px; color: var(--muted); background: none; border: 1px solid var(--line);
          border-radius: 999px; padding: 3px 14px; cursor: pointer; }
        button:hover { color: var(--ink); border-color: var(--muted); }
        .verdict span { display: inline-block; font-size: 13px; font-weight: 600; padding: 2px 12px; border-radius: 999px;
          color: var(--paper); background: var(--mood); }
        .bad { --mood: var(--high); } .good { --mood: var(--good); } .unsure { --mood: var(--medium); }
        h1 { font-size: clamp(26px, 4.2vw, 42px); line-height: 1.15; letter-spacing: -0.02em; font-weight: 650;
          margin: 12px 0 14px; max-width: 24em; text-wrap: balance; }
        .top .path { font-size: 14px; }
        .facts { color: var(--muted); margin-top: 6px; }
        .facts span:not(:last-child)::after { content: '·'; margin: 0 8px; }
        h2 { font-size: 15px; font-weight: 600; margin-bottom: 16px; }
        main > section { margin-bottom: 44px; }
        main > section > h2 { font-size: 21px; letter-spacing: -0.01em; }
        .empty { color: var(--muted); }
        footer { padding-top: 20px; padding-bottom: 48px; color: var(--muted); font-size: 13px; }
        """

    private static let charts = """
        .card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 20px 22px; min-width: 0; }
        .severities { display: flex; flex-wrap: wrap; gap: 6px; margin-bottom: 14px; }
        .legend { color: var(--muted); font-size: 14px; }
        .legend b { color: var(--ink); font-weight: 600; margin-left: 4px; }
        .treemap .legend { display: flex; flex-wrap: wrap; gap: 4px 20px; margin-top: 12px; font-size: 13px; }
        i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 8px; }
        i.open { background: var(--open); } i.sealed { background: var(--sealed); } i.other { background: var(--other); }
        i.mark { border: 2px solid var(--high); }
        .treemap svg { width: 100%; height: auto; display: block; }
        .treemap svg.narrow { display: none; }
        .treemap text { font-size: 11.5px; pointer-events: none; }
        .treemap text.kind { fill: var(--muted); font-weight: 600; }
        .treemap text.file { fill: var(--on-tile); }
        g.open rect { fill: var(--open); } g.sealed rect { fill: var(--sealed); } g.other rect { fill: var(--other); }
        rect[class] { stroke: var(--tone); stroke-width: 2; }
        .treemap a:hover rect { filter: brightness(1.1); }
        """

    private static let findings = """
        .filter { display: flex; flex-wrap: wrap; gap: 12px 20px; align-items: center; padding: 12px 0; position: sticky;
          top: 0; background: var(--paper); z-index: 1; border-bottom: 1px solid var(--line); margin-bottom: 12px; }
        .filter input[type=search] { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line);
          border-radius: 8px; padding: 7px 12px; flex: 1 1 240px; min-width: 0; }
        fieldset { border: 0; padding: 0; margin: 0; display: flex; flex-wrap: wrap; gap: 4px 16px; }
        legend { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
        label { display: inline-flex; gap: 6px; align-items: center; cursor: pointer; }
        input[type=checkbox] { accent-color: var(--tone); margin: 0; }
        output { color: var(--muted); font-size: 14px; min-width: 7em; text-align: right; }
        .check { padding: 22px 0 8px; border-bottom: 1px solid var(--line); content-visibility: auto;
          contain-intrinsic-size: auto 240px; }
        .check:last-of-type { border-bottom: 0; }
        h3 { font-size: 17px; line-height: 1.35; font-weight: 600; display: flex; gap: 10px; align-items: baseline;
          flex-wrap: wrap; }
        .pill { font-size: 12px; font-weight: 600; color: var(--paper); background: var(--tone); border-radius: 999px;
          padding: 1px 10px; line-height: 1.6; white-space: nowrap; }
        .where .pill { margin-right: 8px; }
        .count { margin-left: auto; color: var(--muted); font-weight: 400; font-size: 15px; }
        .about { margin: 4px 0 8px; color: var(--muted); display: flex; flex-wrap: wrap; gap: 4px 14px; font-size: 14px; }
        .tag { font-size: 13px; color: var(--muted); }
        a.tag { text-decoration-color: var(--line); text-underline-offset: 3px; }
        .meaning { max-width: 72ch; margin-bottom: 14px; }
        .places li { border-left: 3px solid var(--tone); padding: 2px 0 3px 16px; margin: 0 0 18px; }
        .places p { max-width: 92ch; }
        .places p:not(.where, .remedy) { color: var(--muted); font-size: 14px; }
        .spot { display: flex; flex-wrap: wrap; gap: 0 14px; align-items: baseline; }
        .spot span { color: var(--ink); }
        .spot code { font-size: 12px; }
        .spot em { font-style: normal; border: 1px solid var(--line); border-radius: 999px; padding: 0 8px; font-size: 12px; }
        .remedy { margin-top: 4px; }
        .remedy code { display: block; width: fit-content; max-width: 100%; background: var(--track); border-radius: 6px;
          padding: 3px 10px; margin-top: 4px; white-space: pre-wrap; }
        summary { cursor: pointer; color: var(--link); margin-bottom: 14px; width: fit-content; }
        """

    private static let tables = """
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; font-size: 14px; }
        th { text-align: left; font-weight: 600; color: var(--muted); }
        th, td { padding: 6px 16px 6px 0; border-bottom: 1px solid var(--line); vertical-align: top; white-space: nowrap; }
        td.path { white-space: normal; min-width: 18em; }
        .number { text-align: right; }
        th:last-child, td:last-child { padding-right: 0; }
        .notes li { max-width: 80ch; padding-left: 1.2em; text-indent: -1.2em; margin-bottom: 6px; }
        .notes li::before { content: '–'; display: inline-block; width: 1.2em; text-indent: 0; color: var(--muted); }
        @media (max-width: 720px) {
          .top, main, footer { padding-left: 18px; padding-right: 18px; }
          .bar { margin-bottom: 28px; }
          .treemap svg.wide { display: none; }
          .treemap svg.narrow { display: block; }
          .card { padding: 16px; }
          .filter { position: static; }
          output { text-align: left; }
        }
        """

    /// The style for paper: nothing is folded or filtered, and ink is saved.
    private static let paper = """
        @page { margin: 16mm 14mm; }
        @media print {
          :root, :root[data-theme=dark] { color-scheme: light; --paper: #fff; --card: #fff; --ink: #000; --muted: #444;
            --line: #ccc; --track: #eee; --link: #000; --critical: #93175a; --high: #b32d1f; --medium: #8f5400;
            --low: #245a75; --info: #555; --good: #1d6040; --open: #efc98f; --sealed: #a9d3c0; --other: #ddd;
            --on-tile: #000; }
          * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
          body { font-size: 10.5pt; }
          .top, main, footer { max-width: none; padding-left: 0; padding-right: 0; }
          .top { padding-top: 0; }
          .bar { margin-bottom: 12px; }
          button, .filter { display: none !important; }
          h1 { font-size: 24pt; }
          .card, .spot, h3, tr { break-inside: avoid; }
          h2, h3, .about, .where { break-after: avoid; }
          .legend { font-size: 9pt; }
          .check { content-visibility: visible; }
          .treemap svg.wide { display: block; }
          .treemap svg.narrow { display: none; }
          a { text-decoration: none; }
        }
        """
}
