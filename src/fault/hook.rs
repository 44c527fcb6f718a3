//! The built-in rules of every hook: `hook-latency`, `hook-error`, `hook-hang`.

use std::time::Duration;

use crate::fault::{Facts, Plan};
use crate::seed::Seed;

/// How hooks misbehave: nothing by default. `/hook/hang-<anything>` never answers, whatever stands here.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HookRules {
    /// The least time an answer takes.
    pub latency: Duration,
    /// What is added to it at most, evenly drawn.
    pub jitter: Duration,
    /// The fraction answered with 500, from 0 to 1.
    pub error_rate: f64,
}

impl HookRules {
    /// Whether a draw depends on the attempt, so that attempts have to be counted.
    pub fn draws(&self) -> bool {
        self.error_rate > 0.0 || !self.jitter.is_zero()
    }

    /// What happens to one delivery.
    pub fn draw(&self, seed: Seed, facts: &Facts<'_>) -> Plan {
        let mut plan = Plan::default();
        if facts.path.starts_with("/hook/hang-") {
            plan.hang = true;
            plan.rules.push("hook-hang".into());
            return plan;
        }
        let attempt = facts.attempt.to_string();
        let fraction = |rule| seed.fraction(&[rule, facts.host, facts.path, facts.id, &attempt]);
        if !self.latency.is_zero() || !self.jitter.is_zero() {
            let jitter = match self.jitter.is_zero() {
                true => Duration::ZERO,
                false => self.jitter.mul_f64(fraction("hook-latency")),
            };
            plan.delay = self.latency + jitter;
            plan.rules.push("hook-latency".into());
        }
        if self.error_rate > 0.0 && fraction("hook-error") < self.error_rate {
            plan.status = Some(500);
            plan.rules.push("hook-error".into());
        }
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(id: &str, attempt: u32) -> Facts<'_> {
        Facts {
            host: "hooks.test",
            path: "/hook/a",
            id,
            attempt,
        }
    }

    #[test]
    fn the_same_seed_and_attempts_give_the_same_faults() {
        let rules = HookRules {
            jitter: Duration::from_millis(100),
            error_rate: 0.3,
            ..HookRules::default()
        };
        let run = |seed| -> Vec<Plan> {
            (0..200)
                .map(|n| rules.draw(Seed(seed), &facts(&n.to_string(), 1)))
                .collect()
        };
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
    }

    #[test]
    fn the_error_rate_is_kept_and_a_retry_is_drawn_anew() {
        let rules = HookRules {
            error_rate: 0.25,
            ..HookRules::default()
        };
        let failed = |n: u32, attempt| {
            rules
                .draw(Seed(1), &facts(&n.to_string(), attempt))
                .status
                .is_some()
        };
        let failures = (0..4_000).filter(|n| failed(*n, 1)).count();
        // 1,000 expected; 4 standard deviations are 110.
        assert!((890..1_110).contains(&failures), "{failures}");
        assert!((0..4_000).filter(|n| failed(*n, 1)).any(|n| !failed(n, 2)));
    }

    #[test]
    fn latency_and_jitter_stay_within_their_bounds() {
        let rules = HookRules {
            latency: Duration::from_millis(20),
            jitter: Duration::from_millis(10),
            ..HookRules::default()
        };
        for n in 0..500 {
            let delay = rules.draw(Seed(3), &facts(&n.to_string(), 1)).delay;
            assert!(
                (Duration::from_millis(20)..=Duration::from_millis(30)).contains(&delay),
                "{delay:?}"
            );
        }
    }

    #[test]
    fn nothing_happens_unless_asked_for_but_a_hang() {
        assert_eq!(
            HookRules::default().draw(Seed(1), &facts("a", 1)),
            Plan::default()
        );
        let hang = Facts {
            path: "/hook/hang-x",
            ..facts("a", 1)
        };
        assert!(HookRules::default().draw(Seed(1), &hang).hang);
    }
}
