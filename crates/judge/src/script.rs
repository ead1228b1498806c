//! Is the answer in the language that was asked for?

use crate::Case;
use crate::evidence::Head;
use crate::language::{Letters, Script, beginning};
use crate::verdict::Finding;

/// Fewest letters of a prompt and of an answer whose scripts are compared.
const LETTERS_MIN: usize = 20;

/// Letters in a row from which a foreign script is no name and no symbol.
const RUN_MIN: usize = 4;

/// Beginnings of words, in lower case, by which a prompt speaks of languages or scripts: then any may come.
const SPEAKS_OF_LANGUAGES: [&str; 30] = [
    "translat",
    "übersetz",
    "tradu",
    "traduz",
    "перев",
    "翻译",
    "翻訳",
    "번역",
    "language",
    "sprache",
    "idioma",
    "langue",
    "язык",
    "语言",
    "言語",
    "alphabet",
    "script",
    "unicode",
    "japan",
    "chin",
    "korea",
    "russia",
    "arab",
    "greek",
    "hebrew",
    "hindi",
    "thai",
    "ukrain",
    "multilingual",
    "transliterat",
];

/// v.lang.wrong: not in the language that the check demands; without one, not in the script of the prompt.
pub(crate) fn wrong(case: &Case<'_>) -> Option<Finding> {
    if case.visible.trim().is_empty() {
        return None;
    }
    if let Some(language) = case.expect.grader.and_then(crate::Grader::language) {
        let is_other = language.is_of(case.visible) == Some(false);
        return is_other.then(|| {
            Finding::invalid("language_wrong").because(format_args!(
                "not '{}': {}",
                language.code,
                Head(case.visible.trim())
            ))
        });
    }
    let asked = Letters::of(case.expect.prompt);
    let said = Letters::of(case.visible);
    if asked.all < LETTERS_MIN || said.all < LETTERS_MIN {
        return None;
    }
    let (asked, said) = asked.dominant(0.9).zip(said.dominant(0.5))?;
    (!asked.mixes_with(said) && !speaks_of_languages(case.expect.prompt)).then(|| {
        Finding::degraded("language_wrong").because(format_args!("prompt in {asked:?}, answer in {said:?}"))
    })
}

/// v.lang.wrong within a text: a run of letters of a script that neither prompt nor answer is in. Latin is at home
/// everywhere, Greek in formulas; what stands in quotes or brackets is a quotation.
pub(crate) fn foreign_run(case: &Case<'_>) -> Option<Finding> {
    let own = Letters::of(case.visible).dominant(0.5)?;
    let is_foreign = |script: Script| {
        !matches!(script, Script::Latin | Script::Greek | Script::Other) && !script.mixes_with(own)
    };
    let run = foreign_run_in(beginning(case.visible), is_foreign)?;
    let script = run.chars().find_map(Script::of)?;
    let is_known =
        Letters::of(case.expect.prompt).count(script) > 0 || speaks_of_languages(case.expect.prompt);
    (!is_known).then(|| Finding::degraded("foreign_script").because(format_args!("{}", Head(run))))
}

fn foreign_run_in(text: &str, is_foreign: impl Fn(Script) -> bool) -> Option<&str> {
    let mut start = None;
    let mut letters = 0;
    for (at, c) in text.char_indices() {
        if Script::of(c).is_some_and(&is_foreign) {
            letters += 1;
            let start = *start.get_or_insert(at);
            let before = text.get(..start).and_then(|before| before.chars().next_back());
            let is_quoted = before.is_some_and(|c| "\"'`([{“‘«„「『（*_".contains(c));
            if letters >= RUN_MIN && !is_quoted {
                return text.get(start..);
            }
        } else {
            (start, letters) = (None, 0);
        }
    }
    None
}

fn speaks_of_languages(prompt: &str) -> bool {
    let prompt = beginning(prompt).to_lowercase();
    SPEAKS_OF_LANGUAGES.iter().any(|word| prompt.contains(word))
}
