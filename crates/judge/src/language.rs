//! Which script and which language a text is in, as far as a few rules can tell.
//!
//! A script of its own tells a language at once. Languages that share a script are told apart by their commonest
//! words: reliable from a dozen words on, silent on fewer.

/// Most of a text that is looked at, in bytes.
const LOOKED_AT_MAX: usize = 1 << 14;

/// Fewest common words, over all languages, from which one is told.
const COMMON_WORDS_MIN: usize = 2;

/// A script, or a family of scripts that one text mixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Script {
    Latin,
    Greek,
    Cyrillic,
    Hebrew,
    Arabic,
    Devanagari,
    Bengali,
    Thai,
    Kana,
    Han,
    Hangul,
    /// Letters of any other.
    Other,
}

impl Script {
    const COUNT: usize = Script::Other as usize + 1;

    /// The script of a letter; `None` for what is no letter.
    pub(crate) fn of(c: char) -> Option<Script> {
        Some(match c {
            'a'..='z' | 'A'..='Z' => Script::Latin,
            '\0'..='\u{A9}' | '\u{AB}'..='\u{B9}' | '\u{BB}'..='\u{BF}' | '×' | '÷' => return None,
            '\u{AA}' | '\u{BA}' | '\u{C0}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}' => Script::Latin,
            '\u{370}'..='\u{3FF}' | '\u{1F00}'..='\u{1FFF}' => Script::Greek,
            '\u{400}'..='\u{52F}' => Script::Cyrillic,
            '\u{590}'..='\u{5FF}' => Script::Hebrew,
            '\u{600}'..='\u{6FF}' | '\u{750}'..='\u{77F}' => Script::Arabic,
            '\u{900}'..='\u{97F}' => Script::Devanagari,
            '\u{980}'..='\u{9FF}' => Script::Bengali,
            '\u{E00}'..='\u{E7F}' => Script::Thai,
            '\u{3041}'..='\u{30FF}' => Script::Kana,
            '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' => Script::Han,
            '\u{1100}'..='\u{11FF}' | '\u{AC00}'..='\u{D7AF}' => Script::Hangul,
            c if c.is_alphabetic() => Script::Other,
            _ => return None,
        })
    }

    /// Whether one text may well hold both: Japanese mixes kana and Han, Korean now and then Han.
    pub(crate) fn mixes_with(self, other: Script) -> bool {
        let is_east_asian = |script| matches!(script, Script::Kana | Script::Han | Script::Hangul);
        self == other || is_east_asian(self) && is_east_asian(other)
    }
}

/// How many letters of each script a text has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Letters {
    by_script: [usize; Script::COUNT],
    pub(crate) all: usize,
}

impl Letters {
    pub(crate) fn of(text: &str) -> Letters {
        let mut letters = Letters::default();
        for script in beginning(text).chars().filter_map(Script::of) {
            letters.by_script[script as usize] += 1;
            letters.all += 1;
        }
        letters
    }

    pub(crate) fn count(&self, script: Script) -> usize {
        self.by_script[script as usize]
    }

    /// The script of more than `share` of the letters.
    pub(crate) fn dominant(&self, share: f64) -> Option<Script> {
        const ALL: [Script; Script::COUNT] = [
            Script::Latin,
            Script::Greek,
            Script::Cyrillic,
            Script::Hebrew,
            Script::Arabic,
            Script::Devanagari,
            Script::Bengali,
            Script::Thai,
            Script::Kana,
            Script::Han,
            Script::Hangul,
            Script::Other,
        ];
        ALL.into_iter().find(|script| self.count(*script) as f64 > share * self.all as f64)
    }
}

/// The part of a text that is looked at.
pub(crate) fn beginning(text: &str) -> &str {
    let end = text.floor_char_boundary(LOOKED_AT_MAX);
    text.get(..end).unwrap_or(text)
}

/// A language that can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Language {
    pub(crate) code: &'static str,
    script: Script,
    /// Its commonest words, where other languages share its script.
    common: &'static str,
}

const fn language(code: &'static str, script: Script, common: &'static str) -> Language {
    Language { code, script, common }
}

/// Every language that can be told, by ISO 639-1 code.
pub(crate) const LANGUAGES: [Language; 22] = [
    language("ar", Script::Arabic, ""),
    language("bn", Script::Bengali, ""),
    language(
        "cs",
        Script::Latin,
        "a se na je že v o to s za pro jsou jako ale které který podle může nebo také",
    ),
    language(
        "de",
        Script::Latin,
        "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über oder",
    ),
    language("el", Script::Greek, ""),
    language(
        "en",
        Script::Latin,
        "the of and to in is that it was for on are as with his they at be this from have or by one had not but what all were when we there can an your which their said if do will each about how up out them then she many some so these would other into has more",
    ),
    language(
        "es",
        Script::Latin,
        "de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha me si sin sobre este ya entre cuando todo esta ser son también fue",
    ),
    language(
        "fr",
        Script::Latin,
        "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont avec ou son aux mais comme cette être elle nous vous leur",
    ),
    language("he", Script::Hebrew, ""),
    language("hi", Script::Devanagari, ""),
    language(
        "it",
        Script::Latin,
        "di e il la che in a per un del è non una i sono si da con le come della dei più alla anche nel gli lo ma al questo delle ha se dal nella",
    ),
    language("ja", Script::Kana, ""),
    language("ko", Script::Hangul, ""),
    language(
        "nl",
        Script::Latin,
        "de het een van en in is dat op te zijn met voor niet aan er om ook als dan maar bij nog naar uit door over wordt of kan worden deze heeft",
    ),
    language(
        "pl",
        Script::Latin,
        "i w na z do nie się jest to że o jak za od po przez dla są oraz który ale tym tego może czy tylko być jego",
    ),
    language(
        "pt",
        Script::Latin,
        "de a o que e do da em um para é com não uma os no se na por mais as dos como mas foi ao ele das tem à seu sua ou ser quando muito há nos já está também",
    ),
    language(
        "ru",
        Script::Cyrillic,
        "и в не на что с по это как а но из у за к он для от то все так же или его был она мы вы они если чтобы когда только ещё",
    ),
    language(
        "sv",
        Script::Latin,
        "och i att det som en på är av för med den till inte om ett han men var jag sig från vi så kan när eller man också ska har",
    ),
    language("th", Script::Thai, ""),
    language(
        "tr",
        Script::Latin,
        "ve bir bu da de için ile çok olarak daha gibi olan en kadar sonra ne ama var o her değil ya mi",
    ),
    language(
        "uk",
        Script::Cyrillic,
        "і в не на що з та до як це у за а але для від або його є він по які який також бути якщо між щоб",
    ),
    language("zh", Script::Han, ""),
];

impl Language {
    /// The language of an ISO 639-1 code, region or not (`en`, `pt-BR`).
    pub(crate) fn parse(code: &str) -> Option<Language> {
        let code = code.trim().split(['-', '_']).next().unwrap_or_default();
        LANGUAGES.into_iter().find(|language| language.code.eq_ignore_ascii_case(code))
    }

    /// Whether `text` is mostly in this language; `None` where it has too few letters or words to tell.
    pub(crate) fn is_of(&self, text: &str) -> Option<bool> {
        let letters = Letters::of(text);
        if letters.all == 0 {
            return None;
        }
        if !self.is_script_of(&letters) {
            return Some(false);
        }
        if self.common.is_empty() { Some(true) } else { self.is_worded(beginning(text)) }
    }

    /// Kana stands beside Han in Japanese; without any it is Chinese.
    fn is_script_of(&self, letters: &Letters) -> bool {
        let [kana, han] = [letters.count(Script::Kana), letters.count(Script::Han)];
        let most = |count: usize| 2 * count > letters.all;
        match self.script {
            Script::Kana => most(kana + han) && (10 * kana >= kana + han),
            Script::Han => most(han) && 10 * kana < kana + han,
            script => most(letters.count(script)),
        }
    }

    /// Whether no language of the script has more of its common words in the text.
    fn is_worded(&self, text: &str) -> Option<bool> {
        let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let rivals = LANGUAGES.into_iter().filter(|language| language.script == self.script);
        let counts: Vec<(&str, usize)> =
            rivals.map(|rival| (rival.code, rival.common_words(&words))).collect();
        let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let own = counts.iter().find(|(code, _)| *code == self.code).map_or(0, |(_, count)| *count);
        (most >= COMMON_WORDS_MIN).then_some(own == most)
    }

    /// How many of `words`, in lower case, are common in this language.
    fn common_words(&self, words: &[String]) -> usize {
        let common: std::collections::HashSet<&str> = self.common.split(' ').collect();
        words.iter().filter(|word| common.contains(word.as_str())).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [(&str, &str); 12] = [
        ("en", "The lighthouse keeper found a letter in a bottle, and it was from his sister."),
        ("de", "Der Leuchtturmwärter fand einen Brief in der Flasche, und er war von seiner Schwester."),
        ("fr", "Le gardien du phare a trouvé une lettre dans la bouteille, et elle est de sa sœur."),
        ("es", "El guardián del faro encontró una carta en la botella, y es de su hermana."),
        (
            "it",
            "Il guardiano del faro ha trovato una lettera nella bottiglia, ed è di sua sorella che non vede da anni.",
        ),
        ("pt", "O guarda do farol não encontrou uma carta na garrafa, mas ela está com a irmã dele também."),
        ("nl", "De vuurtorenwachter vond een brief in de fles, en die is van zijn zus met het boek."),
        ("ru", "Смотритель маяка нашёл письмо в бутылке, и оно было от его сестры."),
        ("uk", "Доглядач маяка знайшов лист у пляшці, і він був від його сестри, що є на острові."),
        ("ja", "灯台守は瓶の中に手紙を見つけた。"),
        ("zh", "灯塔看守人在瓶子里发现了一封信。"),
        ("el", "Ο φαροφύλακας βρήκε ένα γράμμα."),
    ];

    #[test]
    fn each_text_is_of_its_language_and_of_no_other() {
        for (own, text) in TEXTS {
            for language in LANGUAGES {
                assert_eq!(language.is_of(text), Some(language.code == own), "{text} as {}", language.code);
            }
        }
    }

    #[test]
    fn too_little_tells_nothing() {
        let english = Language::parse("en-GB").expect("a language");
        for text in ["", "42", "Paris", "OK!"] {
            assert_eq!(english.is_of(text), None, "{text}");
        }
        assert_eq!(english.is_of("Париж"), Some(false));
        assert_eq!(Language::parse("xx"), None);
    }
}
