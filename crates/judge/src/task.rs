//! Is the answer right?

use crate::evidence::bounded;
use crate::grader::Said;
use crate::verdict::Finding;
use crate::{Case, Grade};

/// v.task.wrong and the grade. A wrong answer can be a sound one: its verdict stays what it is.
pub(crate) fn grade(case: &Case<'_>) -> (Option<bool>, Vec<Finding>) {
    let Some(grader) = case.expect.grader else { return (None, Vec::new()) };
    let Grade { passed, reasons } = grader.grade(case.answer);
    if passed != Some(false) {
        return (passed, Vec::new());
    }
    let wrong = Finding::note("task_wrong")
        .because(format_args!("{}", bounded(format_args!("{}", reasons.join("; ")))));
    (passed, std::iter::once(wrong).chain(in_reasoning(case)).collect())
}

/// v.reasoning.misfiled: what was asked for stands in the reasoning alone. Where the answer has it as well, the grade
/// is passed, and this is not asked.
fn in_reasoning(case: &Case<'_>) -> Option<Finding> {
    let grader = case.expect.grader.filter(|grader| grader.is_of_text())?;
    let text = case.said.reasoning.trim();
    let passes = !text.is_empty() && grader.grade_said(Said { text, tools: &[] }).passed == Some(true);
    passes.then_some(Finding::note("answer_in_reasoning"))
}
