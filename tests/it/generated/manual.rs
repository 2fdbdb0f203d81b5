//! Manual pages in the macros of man(7): how texts are written there, and the page of a command. Nothing in them is
//! hyphenated or justified, so whatever is copied from a page is as it was written.
//!
//! Not `clap_mangen`: its synopses leave out the values of options, its headings are not the usual ones, it joins the lines
//! of examples, and mandoc has 700 complaints about its pages.

use clap::{Arg, ArgAction, Command};

/// Longest line of filled text in the source, in bytes, as mandoc wants it.
const WIDTH: usize = 79;
const ENVIRONMENT: &[(&str, &str, &str)] = &[
    (
        "token_file",
        "SVC_OPERATOR_API_TOKEN_FILE, SVC_OPERATOR_API_TOKEN",
        "The file with the operator token, or the token itself. If both are set, the file is used.",
    ),
    ("color", "NO_COLOR", "If it is set, there are no colours, unless --color is always."),
    (
        "output",
        "COLUMNS",
        "The width of tables in characters, also in a pipe or a file. Without it, tables are as wide as the terminal; in a pipe \
         or a file, they have all columns.",
    ),
];
const FILES: &[(&str, &str, &str)] = &[
    ("token_file", "/etc/svc/operator.token", "The operator token, if nothing else gives one."),
    (
        "url",
        "/run/svc/svcd.sock",
        "The control socket of svcd, unless --url or SVC_URL names another address.",
    ),
];

/// A manual page in the making.
pub(super) struct Page {
    text: String,
    /// A paragraph would follow a heading, which is a paragraph already.
    is_after_heading: bool,
}

impl Page {
    pub(super) fn new(name: &str, section: u8, date: &str) -> Self {
        let title = name.to_uppercase();
        let version = env!("CARGO_PKG_VERSION");
        let text = format!(".TH \"{title}\" {section} {date} \"svc {version}\" svc\n.nh\n.ad l\n");
        Self { text, is_after_heading: false }
    }

    pub(super) fn heading(&mut self, heading: &str) {
        self.line(&format!(".SH \"{heading}\""));
        self.is_after_heading = true;
    }

    /// Adds text whose paragraphs are separated by empty lines.
    pub(super) fn paragraphs(&mut self, text: &str) {
        for paragraph in text.split("\n\n") {
            if !self.is_after_heading {
                self.line(".PP");
            }
            self.fill(&escaped(paragraph));
        }
    }

    /// Adds what a name, already in fonts, means.
    pub(super) fn entry(&mut self, name: &str, meaning: &str) {
        self.line(".TP");
        self.line(name);
        let mut paragraphs = meaning.split("\n\n");
        self.fill(&escaped(paragraphs.next().unwrap_or_default()));
        for paragraph in paragraphs {
            self.line(".IP");
            self.fill(&escaped(paragraph));
        }
    }

    /// Adds the options and operands of a command.
    pub(super) fn arguments(&mut self, arguments: &[&Arg]) {
        for argument in arguments.iter().filter(|argument| !argument.is_hide_set()) {
            self.entry(&tag(argument), &meaning(argument));
            let mut values = argument.get_possible_values();
            values.retain(|value| !value.is_hide_set());
            if argument.is_hide_possible_values_set()
                || values.iter().all(|value| value.get_help().is_none())
            {
                continue;
            }
            self.nested(|page| {
                for value in values {
                    let help = value.get_help().map(ToString::to_string).unwrap_or_default();
                    page.entry(&bold(value.get_name()), &help);
                }
            });
        }
    }

    /// Adds what belongs to the entry before it.
    pub(super) fn nested(&mut self, add: impl FnOnce(&mut Self)) {
        self.line(".RS");
        add(self);
        self.line(".RE");
    }

    pub(super) fn line_break(&mut self) {
        self.line(".br");
    }

    /// Adds lines to copy.
    pub(super) fn lines(&mut self, text: &str) {
        if !self.is_after_heading {
            self.line(".PP");
        }
        self.line(".nf");
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let line = line.strip_prefix("  ").unwrap_or(line);
            self.line(&guarded(&escaped(line)));
        }
        self.line(".fi");
        self.is_after_heading = false;
    }

    /// Adds other pages to read.
    pub(super) fn see_also<N: AsRef<str>>(&mut self, pages: &[(N, u8)]) {
        self.heading("SEE ALSO");
        let pages: Vec<String> = pages
            .iter()
            .map(|(name, section)| format!("{}({section})", bold(name.as_ref())))
            .collect();
        self.fill(&pages.join(", "));
    }

    /// Adds text that is escaped already, broken into lines.
    pub(super) fn fill(&mut self, text: &str) {
        let mut line = String::new();
        for word in text.split_whitespace() {
            if !line.is_empty() && line.len() + 1 + word.len() > WIDTH {
                self.line(&guarded(&line));
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        self.line(&guarded(&line));
        self.is_after_heading = false;
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.text.into_bytes()
    }
}

/// Returns the name and the page of a command of svcctl, whose parts are those of its help.
pub(super) fn of_command(
    command: &Command,
    parent: Option<&Command>,
    date: &str,
) -> (String, Vec<u8>) {
    let name = page_name(command);
    let mut page = Page::new(&name, 1, date);
    page.heading("NAME");
    page.fill(&format!("{} \\- {}", escaped(&name), escaped(&about(command))));
    page.heading("SYNOPSIS");
    page.fill(&synopsis(command));
    page.heading("DESCRIPTION");
    page.paragraphs(&command.get_long_about().map_or_else(|| about(command), ToString::to_string));
    if command.has_subcommands() {
        page.heading("COMMANDS");
        for subcommand in command.get_subcommands() {
            page.entry(&format!("{}(1)", bold(&page_name(subcommand))), &about(subcommand));
        }
    }
    let (global, own): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().partition(|argument| argument.is_global_set());
    page.heading("OPTIONS");
    page.arguments(&own);
    page.heading("GLOBAL OPTIONS");
    page.arguments(&global);
    let after = command.get_after_long_help().or_else(|| command.get_after_help());
    let after = after.map(ToString::to_string).unwrap_or_default();
    let (examples, statuses) = after.split_once("Exit codes:").unwrap_or((after.as_str(), ""));
    exit_status(&mut page, statuses);
    environment(&mut page, command);
    let examples = examples.trim_start_matches("Examples:").trim_start_matches("Example:");
    if !examples.trim().is_empty() {
        page.heading("EXAMPLES");
        page.lines(examples);
    }
    let siblings = parent.into_iter().flat_map(Command::get_subcommands);
    let related = parent.into_iter().chain(siblings).map(page_name).filter(|other| *other != name);
    let mut pages: Vec<(String, u8)> = related.map(|other| (other, 1)).collect();
    pages.push(("svcd".to_owned(), 8));
    page.see_also(&pages);
    (name, page.into_bytes())
}

fn exit_status(page: &mut Page, statuses: &str) {
    page.heading("EXIT STATUS");
    if statuses.is_empty() {
        page.paragraphs("0 on success. svcctl(1) lists the others.");
    }
    for (status, meaning) in statuses.lines().filter_map(|line| line.trim().split_once("  ")) {
        page.entry(&bold(status), meaning);
    }
}

/// Adds what a command reads besides its command line.
fn environment(page: &mut Page, command: &Command) {
    let has = |id: &str| command.get_arguments().any(|it| it.get_id() == id && it.is_global_set());
    page.heading("ENVIRONMENT");
    for argument in command.get_arguments() {
        if let (Some(variable), Some(long)) = (argument.get_env(), argument.get_long()) {
            page.entry(
                &bold(&variable.to_string_lossy()),
                &format!("The value of --{long}, if it is not given."),
            );
        }
    }
    for (_, variable, meaning) in ENVIRONMENT.iter().filter(|(id, _, _)| has(id)) {
        page.entry(&bold(variable), meaning);
    }
    page.heading("FILES");
    for (_, file, meaning) in FILES.iter().filter(|(id, _, _)| has(id)) {
        page.entry(&bold(file), meaning);
    }
}

/// Returns the usage of a command, with the values of its options.
pub(super) fn synopsis(command: &Command) -> String {
    let mut parts = vec![bold(command.get_bin_name().unwrap_or_else(|| command.get_name()))];
    let is_shown = |argument: &&Arg| !argument.is_hide_set() && !argument.is_global_set();
    let is_help =
        |argument: &Arg| matches!(argument.get_action(), ArgAction::Help | ArgAction::HelpShort);
    for option in command
        .get_opts()
        .chain(command.get_arguments().filter(|it| !it.get_action().takes_values()))
    {
        if !is_shown(&option) || option.is_positional() || is_help(option) {
            continue;
        }
        let part = format!("{}{}", flag(option), many(option));
        parts.push(if option.is_required_set() { part } else { format!("[{part}]") });
    }
    if command.get_arguments().any(Arg::is_global_set) {
        parts.push("[\\fIGLOBAL\\~OPTIONS\\fR]".to_owned());
    }
    for operand in command.get_positionals().filter(is_shown) {
        let part = format!("{}{}", italic(&value_name(operand)), many(operand));
        parts.push(if operand.is_required_set() { part } else { format!("[{part}]") });
    }
    if command.has_subcommands() {
        let part = italic("COMMAND");
        parts.push(if command.is_subcommand_required_set() { part } else { format!("[{part}]") });
    }
    parts.join(" ")
}

/// Returns an option as it is given, with its value.
fn flag(option: &Arg) -> String {
    let name = option.get_long().map_or_else(
        || format!("-{}", option.get_short().unwrap_or_default()),
        |long| format!("--{long}"),
    );
    let value = italic(&value_name(option));
    let value = match option.get_num_args() {
        _ if !option.get_action().takes_values() => String::new(),
        Some(count) if count.min_values() == 0 => format!("[={value}]"),
        // `\\~`: a space where no line is broken.
        _ => format!("\\~{value}"),
    };
    format!("{}{value}", bold(&name))
}

fn many(argument: &Arg) -> &'static str {
    let is_many = argument.get_num_args().is_some_and(|count| count.max_values() > 1);
    if is_many || matches!(argument.get_action(), ArgAction::Append) { "..." } else { "" }
}

/// Returns how an argument is named in the list of options.
fn tag(argument: &Arg) -> String {
    if argument.is_positional() {
        return format!("{}{}", italic(&value_name(argument)), many(argument));
    }
    let short = argument.get_short().map(|short| format!("{}, ", bold(&format!("-{short}"))));
    format!("{}{}", short.unwrap_or_default(), flag(argument))
}

fn meaning(argument: &Arg) -> String {
    let help = argument.get_long_help().or_else(|| argument.get_help());
    let mut text = help.map(ToString::to_string).unwrap_or_default();
    let defaults: Vec<_> = argument
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy().into_owned())
        .collect();
    if !defaults.is_empty()
        && argument.get_action().takes_values()
        && !argument.is_hide_default_value_set()
    {
        text = format!("{text} [default: {}]", defaults.join(" "));
    }
    let values = argument.get_possible_values();
    let is_listed = argument.get_action().takes_values()
        && !argument.is_hide_possible_values_set()
        && !values.is_empty()
        && values.iter().all(|value| value.get_help().is_none());
    if is_listed {
        let names: Vec<&str> = values.iter().map(clap::builder::PossibleValue::get_name).collect();
        text = format!("{text} [possible values: {}]", names.join(", "));
    }
    text
}

fn value_name(argument: &Arg) -> String {
    let names = argument.get_value_names().map(|names| names.join(" "));
    names.unwrap_or_else(|| argument.get_id().as_str().to_uppercase())
}

fn page_name(command: &Command) -> String {
    command.get_bin_name().unwrap_or_else(|| command.get_name()).replace(' ', "-")
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

pub(super) fn bold(text: &str) -> String {
    format!("\\fB{}\\fR", escaped(text))
}

fn italic(text: &str) -> String {
    format!("\\fI{}\\fR", escaped(text))
}

/// Writes a text so that each character stays itself: a plain `-` would become a hyphen, for instance.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\e"),
            '-' => escaped.push_str("\\-"),
            '\'' => escaped.push_str("\\(aq"),
            '`' => escaped.push_str("\\(ga"),
            '^' => escaped.push_str("\\(ha"),
            '~' => escaped.push_str("\\(ti"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Keeps a line of text from being read as a macro.
fn guarded(line: &str) -> String {
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_owned() }
}
