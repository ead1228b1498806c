//! What must hold of a page in a browser.

use std::path::{Path, PathBuf};

use inferometer_metrics::Summary;
use inferometer_report::RunView;
use inferometer_report::html::page;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::fixture::{Made, full, pair, single};

/// Widths of a phone and of a desk.
const WIDTHS: [u32; 2] = [390, 1280];
/// The tallest screenshot: more does not fit Chromium's own limit.
const SHOT_PX_MAX: u64 = 12_000;

/// A folder for pages and screenshots, under the target folder so that they can be looked at.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("html");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn written(name: &str, made: &Made) -> PathBuf {
    let path = folder().join(format!("{name}.html"));
    let text =
        page(&RunView::new(&made.summary, &made.manifest, Some(Path::new("runs/made-up"))), &made.dots);
    std::fs::write(&path, text).unwrap();
    path
}

fn shoot(browser: &Browser, name: &str, width: u32) {
    let height =
        browser.script("return document.documentElement.scrollHeight").as_u64().unwrap().min(SHOT_PX_MAX);
    let clip = json!({"x": 0, "y": 0, "width": width, "height": height, "scale": 1});
    let shot = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
    let data = browser.devtools("Page.captureScreenshot", &shot);
    let png = decode_base64(data["data"].as_str().unwrap());
    assert!(png.starts_with(b"\x89PNG") && png.len() > 20_000, "{} bytes of {name}", png.len());
    std::fs::write(folder().join(format!("{name}.png")), png).unwrap();
}

fn decode_base64(text: &str) -> Vec<u8> {
    const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bits = 0_u32;
    let mut held = 0;
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for digit in text.chars().filter_map(|c| LETTERS.find(c)) {
        bits = bits << 6 | digit as u32;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}

/// Nothing on the console, and no request but for the page itself.
fn assert_quiet(browser: &Browser, page: &Path) {
    let console = browser.log("browser");
    assert!(console.is_empty(), "{console:#?}");
    for entry in browser.log("performance") {
        let message: Value = serde_json::from_str(entry["message"].as_str().unwrap()).unwrap();
        if message["message"]["method"] == "Network.requestWillBeSent" {
            let url = message["message"]["params"]["request"]["url"].as_str().unwrap().to_owned();
            let is_page = url == format!("file://{}", page.display());
            assert!(is_page || url.starts_with("data:"), "it asked for {url}");
        }
    }
}

/// The figures as the page's own attributes have them, by their place in the summary.
fn assert_figures(browser: &Browser, summary: &Summary, at_least: usize) {
    let summary = serde_json::to_value(summary).unwrap();
    let read = "return [...document.querySelectorAll('[data-at]')].map((cell) => [cell.dataset.at, cell.dataset.value, cell.innerText])";
    let shown = browser.script(read);
    let shown = shown.as_array().unwrap();
    assert!(shown.len() >= at_least, "{} figures", shown.len());
    for figure in shown {
        let [at, value] = [0, 1].map(|i| figure[i].as_str().unwrap());
        let known = summary.pointer(at).unwrap_or_else(|| panic!("{at} is not in the summary"));
        let known = if known.is_object() { &known["value"] } else { known };
        match known {
            Value::Null => assert_eq!(value, "", "{at}"),
            Value::String(text) => assert_eq!(value, text, "{at}"),
            number => assert_eq!(value.parse::<f64>().ok(), number.as_f64(), "{at}"),
        }
    }
}

fn check_page(name: &str, made: &Made, figures: usize, plots: u64) {
    let Some(browser) = Browser::start() else { return };
    let path = written(name, made);
    for width in WIDTHS {
        for scheme in ["light", "dark"] {
            browser.open(&path, width, scheme);
            assert_quiet(&browser, &path);
            let sizes = browser
                .script("const root = document.documentElement; return [root.scrollWidth, root.clientWidth]");
            assert_eq!(sizes[0], sizes[1], "the page scrolls sideways at {width} px");
            let drawn = browser.script("return [...document.querySelectorAll('.plot svg')].filter((svg) => svg.clientHeight > 40).length");
            assert_eq!(drawn.as_u64(), Some(plots), "plots at {width} px");
            shoot(&browser, &format!("{name}-{width}-{scheme}"), width);
        }
    }
    assert_figures(&browser, &made.summary, figures);
}

#[test]
fn many_targets() {
    check_page("many", &full(300), 500, 28);
}

#[test]
fn one_target() {
    check_page("single", &single(), 20, 5);
}

/// Of a short page: Chromium's driver waits ten seconds for paper, and a busy machine needs more for a long one.
#[test]
fn a_page_prints() {
    let Some(browser) = Browser::start() else { return };
    browser.open(&written("printed", &single()), 1280, "dark");
    let pdf = decode_base64(&browser.print());
    assert!(pdf.starts_with(b"%PDF") && pdf.len() > 40_000, "{} bytes", pdf.len());
    std::fs::write(folder().join("printed.pdf"), pdf).unwrap();
}

/// The middle of an element, which is brought into the window.
fn middle(browser: &Browser, selector: &str) -> [f64; 2] {
    let script = format!(
        "const element = document.querySelector('{selector}'); \
         element.scrollIntoView({{block: 'center', behavior: 'instant'}}); \
         const box = element.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]"
    );
    let at = browser.script(&script);
    [0, 1].map(|i| at[i].as_f64().unwrap())
}

#[test]
fn a_mark_is_explained_and_figures_are_copied() {
    let Some(browser) = Browser::start() else { return };
    let path = written("used", &full(40));
    browser.open(&path, 1280, "light");
    let at = middle(&browser, "#ttft-0 .plot .mark-symbol path");
    browser.point(at[0], at[1]);
    let tip = browser.script("return document.getElementById('tip').innerText");
    assert!(tip.as_str().unwrap().contains("request") && tip.as_str().unwrap().contains("TTFT, ms"), "{tip}");
    browser.press("\u{e00c}"); // Escape
    assert_eq!(browser.script("return document.getElementById('tip').hidden"), true);
    browser.devtools(
        "Browser.grantPermissions",
        &json!({"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}),
    );
    for (button, copied) in [
        ("[data-table=figures-0][data-as=tsv]", "alder-main-70b\t40 of 40 ok\t1\t"),
        ("#ttft-0 [data-plot][data-as=json]", "\"ttft_ms\": "),
        ("[data-text]", "first_token_timeout_ms = "),
    ] {
        browser.script(&format!(
            "document.querySelector('{button}').closest('details')?.setAttribute('open', '')"
        ));
        let at = middle(&browser, button);
        browser.click(at[0], at[1]);
        browser.wait_for(&format!("/^(Copied|Could)/.test(document.querySelector('{button}').textContent)"));
        assert_eq!(
            browser.script(&format!("return document.querySelector('{button}').textContent")),
            "Copied",
            "{button}"
        );
        let text = browser.script("return navigator.clipboard.readText()");
        assert!(text.as_str().unwrap().contains(copied), "{button}: {text}");
    }
    assert_quiet(&browser, &path);
}

#[test]
fn the_keyboard_comes_first_to_what_skips() {
    let Some(browser) = Browser::start() else { return };
    browser.open(&written("keys", &pair()), 1280, "light");
    browser.press("\u{e004}"); // Tab
    let focused = browser.script(
        "return [document.activeElement.className, document.activeElement.getBoundingClientRect().x >= 0]",
    );
    assert_eq!(focused, json!(["skip", true]));
    browser.press("\u{e007}"); // Enter
    assert_eq!(browser.script("return document.activeElement.id"), "main");
}

#[test]
fn names_of_servers_run_nothing() {
    const ATTACK: &str = "</script><img src=x onerror=\"document.title='owned'\">";
    let mut made = full(20);
    let mut summary = serde_json::to_string(&made.summary).unwrap();
    let mut study = made.manifest.study.to_string();
    for text in [&mut summary, &mut study] {
        *text = text
            .replace("alder", &format!("alder{}", serde_json::to_string(ATTACK).unwrap().trim_matches('"')));
        *text = text.replace(
            "small-8b",
            &format!("small-8b{}", serde_json::to_string(ATTACK).unwrap().trim_matches('"')),
        );
    }
    made.summary = serde_json::from_str(&summary).unwrap();
    made.manifest.study = serde_json::from_str(&study).unwrap();
    let Some(browser) = Browser::start() else { return };
    let path = written("hostile", &made);
    browser.open(&path, 390, "light");
    assert_quiet(&browser, &path);
    assert_eq!(browser.script("return document.querySelectorAll('img').length"), 0);
    assert_eq!(browser.script("return document.title"), "Four providers, three models – Inferometer");
    let width =
        browser.script("return document.documentElement.scrollWidth - document.documentElement.clientWidth");
    assert_eq!(width, 0, "a long name does not widen the page");
}
