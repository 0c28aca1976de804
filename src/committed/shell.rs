//! The part of the shell's language in which a script cannot say one thing and do another: simple commands, one a line.
//!
//! Words, quotes, comments and continued lines; nothing is expanded but the workspace's own folder. Everything else the
//! shell can do is refused by name, not understood.

/// Stands for the workspace's folder in a word.
pub(super) const WORKSPACE: char = '\u{1}';
/// Stands for the folder the script runs in.
pub(super) const HERE: char = '\u{2}';

/// One simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// The line it starts in, from 0.
    pub(super) line: usize,
    pub(super) words: Vec<String>,
}

/// What a script does beyond simple commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Beyond {
    /// Something of the forge's is filled in.
    Expression(String),
    /// A variable is filled in.
    Variable(String),
    /// `||`: what follows decides instead.
    Or,
    /// Anything else.
    Syntax(char),
}

/// The commands of a script, or the first thing in it, with its line from 0, that goes beyond them.
pub(super) fn commands(script: &str) -> Result<Vec<Command>, (usize, Beyond)> {
    let script = with_workspace(script);
    let mut scanner = Scanner { rest: script.chars().collect::<Vec<_>>().into_iter().peekable(), line: 0 };
    let mut commands = Vec::new();
    while let Some(command) = scanner.command().map_err(|beyond| (scanner.line, beyond))? {
        commands.push(command);
    }
    Ok(commands)
}

/// The forge's own spelling of the workspace, replaced by the shell's.
fn with_workspace(script: &str) -> String {
    let mut text = String::new();
    let mut rest = script;
    while let Some(start) = rest.find("${{") {
        let (before, expression) = rest.split_at(start);
        text += before;
        match expression[3..].split_once("}}") {
            Some((inner, after)) if inner.trim() == "github.workspace" => {
                text += "${GITHUB_WORKSPACE}";
                rest = after;
            }
            _ => {
                text += "${{";
                rest = &expression[3..];
            }
        }
    }
    text + rest
}

struct Scanner {
    rest: std::iter::Peekable<std::vec::IntoIter<char>>,
    line: usize,
}

impl Scanner {
    fn take(&mut self) -> Option<char> {
        let c = self.rest.next();
        self.line += usize::from(c == Some('\n'));
        c
    }

    /// The next command that is not empty.
    fn command(&mut self) -> Result<Option<Command>, Beyond> {
        let mut command = Command { line: self.line, words: Vec::new() };
        let mut word: Option<String> = None;
        loop {
            let Some(&next) = self.rest.peek() else {
                command.words.extend(word);
                return Ok((!command.words.is_empty()).then_some(command));
            };
            match next {
                '\n' => {
                    command.words.extend(word.take());
                    if !command.words.is_empty() {
                        // The line is counted with the command after it.
                        self.take();
                        return Ok(Some(command));
                    }
                    self.take();
                    command.line = self.line;
                }
                ' ' | '\t' => {
                    self.take();
                    command.words.extend(word.take());
                }
                '#' if word.is_none() => while self.rest.next_if(|&c| c != '\n').is_some() {},
                '\\' => {
                    self.take();
                    match self.take() {
                        Some('\n') => {}
                        Some(c) => word.get_or_insert_default().push(c),
                        None => return Err(Beyond::Syntax('\\')),
                    }
                }
                '\'' => {
                    self.take();
                    let word = word.get_or_insert_default();
                    loop {
                        match self.take() {
                            Some('\'') => break,
                            Some(c) => word.push(c),
                            None => return Err(Beyond::Syntax('\'')),
                        }
                    }
                }
                '"' => {
                    self.take();
                    self.double_quoted(word.get_or_insert_default())?;
                }
                '$' => self.dollar(word.get_or_insert_default())?,
                '|' => {
                    self.take();
                    return Err(if self.rest.peek() == Some(&'|') { Beyond::Or } else { Beyond::Syntax('|') });
                }
                '&' | ';' | '<' | '>' | '(' | ')' | '`' | '*' | '?' | '[' | '{' | '}' | '!' => {
                    return Err(Beyond::Syntax(next));
                }
                // At the start of a word it is somebody's home.
                '~' if word.is_none() => return Err(Beyond::Syntax('~')),
                // Before the command it would be an assignment; elsewhere it is as good as a letter.
                '=' if command.words.is_empty() => return Err(Beyond::Syntax('=')),
                c if c.is_control() => return Err(Beyond::Syntax(c)),
                c => {
                    self.take();
                    word.get_or_insert_default().push(c);
                }
            }
        }
    }

    fn double_quoted(&mut self, word: &mut String) -> Result<(), Beyond> {
        loop {
            match self.rest.peek().copied() {
                None => return Err(Beyond::Syntax('"')),
                Some('$') => self.dollar(word)?,
                Some('`') => return Err(Beyond::Syntax('`')),
                Some('"') => {
                    self.take();
                    return Ok(());
                }
                Some('\\') => {
                    self.take();
                    match self.take() {
                        Some('\n') => {}
                        Some(c @ ('$' | '`' | '"' | '\\')) => word.push(c),
                        Some(c) => word.extend(['\\', c]),
                        None => return Err(Beyond::Syntax('"')),
                    }
                }
                Some(c) => {
                    self.take();
                    word.push(c);
                }
            }
        }
    }

    fn dollar(&mut self, word: &mut String) -> Result<(), Beyond> {
        self.take();
        let braced = self.rest.next_if_eq(&'{').is_some();
        if braced && self.rest.peek() == Some(&'{') {
            let inner: String = self.rest.by_ref().skip(1).take_while(|&c| c != '}' && c != '\n').collect();
            return Err(Beyond::Expression(inner.trim().to_owned()));
        }
        let mut name = String::new();
        while let Some(c) = self.rest.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(c);
        }
        let closed = !braced || self.rest.next_if_eq(&'}').is_some();
        // Only at the start of a word is it a folder.
        match name.as_str() {
            "GITHUB_WORKSPACE" if closed && word.is_empty() => word.push(WORKSPACE),
            "PWD" if closed && word.is_empty() => word.push(HERE),
            "" => return Err(Beyond::Syntax('$')),
            _ => return Err(Beyond::Variable(name)),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(script: &str) -> Vec<Vec<String>> {
        commands(script).unwrap().into_iter().map(|command| command.words).collect()
    }

    #[test]
    fn simple_commands_are_read_as_the_shell_reads_them() {
        assert_eq!(words("a  b\tc\n\n # d\ne # f\n"), [vec!["a", "b", "c"], vec!["e"]]);
        assert_eq!(words("a 'b c'\"d e\"f\\ g \\\n  --h=i#j ''"), [["a", "b cd ef g", "--h=i#j", ""]]);
        assert_eq!(words("a \"$GITHUB_WORKSPACE/x\" ${{ github.workspace }}/y"), [["a", "\u{1}/x", "\u{1}/y"]]);
        assert_eq!(commands("\n\nx\ny \\\n z\n\nw").unwrap().iter().map(|c| c.line).collect::<Vec<_>>(), [2, 3, 6]);
        for (script, line, beyond) in [
            ("a\nb || true", 1, Beyond::Or),
            ("a | tee x", 0, Beyond::Syntax('|')),
            ("a; true", 0, Beyond::Syntax(';')),
            ("a &", 0, Beyond::Syntax('&')),
            ("! a", 0, Beyond::Syntax('!')),
            ("A=1 a", 0, Beyond::Syntax('=')),
            ("a $(b)", 0, Beyond::Syntax('$')),
            ("a `b`", 0, Beyond::Syntax('`')),
            ("a \"$SHA\"", 0, Beyond::Variable("SHA".into())),
            ("a x$PWD", 0, Beyond::Variable("PWD".into())),
            ("a ${{ inputs.sha }}", 0, Beyond::Expression("inputs.sha".into())),
            ("a 'b", 0, Beyond::Syntax('\'')),
            ("a <<EOF", 0, Beyond::Syntax('<')),
            ("a *.py", 0, Beyond::Syntax('*')),
            ("a ~/x", 0, Beyond::Syntax('~')),
        ] {
            assert_eq!(commands(script).unwrap_err(), (line, beyond), "{script}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// `sh` itself is asked what the words are.
        #[test]
        fn the_words_are_the_ones_that_the_shell_passes_on(text in "[-ab=/.:@ \t'\"\\\\#$|;~\n]{0,24}") {
            let script = format!("printf '<%s>' x {text}");
            if let Ok(found) = commands(&script) && let [command] = &found[..] {
                prop_assume!(!script.contains(WORKSPACE));
                let output = std::process::Command::new("sh").args(["-ec", &script]).output().unwrap();
                prop_assert!(output.status.success());
                let expected: String = command.words[2..].iter().map(|word| format!("<{word}>")).collect();
                prop_assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
            }
        }
    }
}
