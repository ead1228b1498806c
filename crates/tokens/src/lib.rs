//! Pinned token counts, and text of a stated token length.
