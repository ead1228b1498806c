//! `report.html` in a real Chromium: nothing on its console, no request, figures that are the summary's, no page that
//! scrolls sideways on a phone. Screenshots are left in `target/tmp/html` for eyes to look at.

#[cfg(test)]
mod browser;
#[cfg(test)]
#[path = "../../../report/tests/html/fixture.rs"]
mod fixture;
#[cfg(test)]
mod pages;
#[cfg(test)]
#[path = "../../../report/tests/html/verdicts.rs"]
mod verdicts;
