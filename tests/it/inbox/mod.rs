//! Deliveries to inboxes: what is taken and what follows, what is refused and in whose words.

/// Bodies: large, cut, odd, no activities at all.
mod bodies;

/// Follows, and what undoes and answers them.
mod follows;

/// What is refused, by whom and how.
mod refusals;
