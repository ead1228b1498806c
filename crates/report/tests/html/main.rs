//! `report.html`, without a browser: what stands in it, and that nothing else can. The browser's part is
//! `crates/inferometer/tests/html`.

#[cfg(test)]
mod figures;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod plots;
#[cfg(test)]
mod scan;
#[cfg(test)]
mod structure;
#[cfg(test)]
mod verdicts;
