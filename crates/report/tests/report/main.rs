//! The report as its readers see it.

#[cfg(test)]
mod export;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod study;
#[cfg(test)]
mod table;
#[cfg(test)]
mod wording;
