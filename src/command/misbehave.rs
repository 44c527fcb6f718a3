//! The words for what is wrong on purpose: one for each misbehaviour, with its summary as help.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::fault::Misbehaviour;

impl ValueEnum for Misbehaviour {
    fn value_variants<'a>() -> &'a [Misbehaviour] {
        &Misbehaviour::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.label()).help(format!("a delivery {}", self.summary())))
    }
}
