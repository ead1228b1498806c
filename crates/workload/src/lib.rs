//! What is asked: built-in prompts, generated text of a stated length, datasets.
