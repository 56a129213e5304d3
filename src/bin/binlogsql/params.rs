//! Values for the `$name` placeholders of a statement.
//!
//! A script may declare its parameters in the comments at its head, as the recipes do:
//!
//! ```sql
//! -- params:   $schema text = 'shop', $limit integer = 20, $since timestamp = null
//! ```
//!
//! A declared parameter has its type, and its default unless there is none (`$table text`). One that
//! is not declared takes the type that the statement wants at its place, or is text.

use std::collections::HashMap;

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::prelude::DataFrame;

use crate::errors::Failure;
use crate::names::closest;

/// A parameter that a script declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    /// Name without `$`.
    pub name: String,
    /// Its type, as written.
    pub kind: String,
    /// What it is when nobody gives it a value.
    pub preset: Preset,
}

/// The default of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preset {
    /// None: a value must be given.
    Required,
    /// `null`
    Null,
    /// Anything else, without quotes.
    Text(String),
}

/// Reads the declarations in the comments at the head of a script.
pub fn declared(script: &str) -> Result<Vec<Declared>, String> {
    let mut out = Vec::new();
    for line in head(script) {
        let Some(list) = line.strip_prefix("params:") else {
            continue;
        };
        let mut rest = list.trim();
        while !rest.is_empty() && rest != "none" {
            let (one, more) = rest.split_once(", $").unwrap_or((rest, ""));
            out.push(declaration(one.trim_start_matches('$').trim())?);
            rest = more.trim();
        }
    }
    Ok(out)
}

/// The comment lines at the head of a script, without their dashes.
pub fn head(script: &str) -> impl Iterator<Item = &str> {
    script
        .lines()
        .map_while(|line| line.trim().strip_prefix("--"))
        .map(str::trim)
}

fn declaration(text: &str) -> Result<Declared, String> {
    let (what, preset) = match text.split_once('=') {
        None => (text, Preset::Required),
        Some((what, value)) => {
            let value = value.trim();
            let bare = value.strip_prefix('\'').and_then(|v| v.strip_suffix('\''));
            let preset = match bare {
                Some(bare) => Preset::Text(bare.replace("''", "'")),
                None if value.eq_ignore_ascii_case("null") => Preset::Null,
                None => Preset::Text(value.to_owned()),
            };
            (what.trim(), preset)
        }
    };
    let mut words = what.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some(name), Some(kind), None) if data_type(kind).is_some() => Ok(Declared {
            name: name.to_owned(),
            kind: kind.to_owned(),
            preset,
        }),
        _ => Err(format!(
            "parameter '{text}': it takes the form $name type = default, \
             with text, integer, number, boolean or timestamp as type"
        )),
    }
}

fn data_type(kind: &str) -> Option<DataType> {
    Some(match kind {
        "text" => DataType::Utf8,
        "integer" => DataType::Int64,
        "number" => DataType::Float64,
        "boolean" => DataType::Boolean,
        "timestamp" => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        _ => return None,
    })
}

/// What is known about the parameters of a script's statements.
#[derive(Debug, Clone, Default)]
pub struct Params {
    declared: Vec<Declared>,
    given: Vec<(String, String)>,
}

impl Params {
    /// Puts the values that were given beside what the script declares.
    pub fn new(script: &str, given: &[(String, String)]) -> Result<Self, Failure> {
        let declared = declared(script).map_err(Failure::Message)?;
        for (name, _) in given {
            if !declared.is_empty() && !declared.iter().any(|d| d.name == *name) {
                let names = declared.iter().map(|d| d.name.as_str());
                let near = closest(name, names.clone());
                let near = near.map(|near| format!("; did you mean ${near}?"));
                let known: Vec<String> = names.map(|name| format!("${name}")).collect();
                let near = near.unwrap_or_else(|| format!("; it has {}", known.join(", ")));
                return Err(Failure::Message(format!("no parameter ${name}{near}")));
            }
        }
        Ok(Self {
            declared,
            given: given.to_vec(),
        })
    }

    /// Fills in the placeholders of a plan.
    pub fn bind(&self, frame: DataFrame) -> Result<DataFrame, Failure> {
        let wanted = frame.logical_plan().get_parameter_types()?;
        if wanted.is_empty() {
            return Ok(frame);
        }
        let mut values: HashMap<String, ScalarValue> = HashMap::new();
        for (placeholder, inferred) in wanted {
            let name = placeholder.trim_start_matches('$');
            values.insert(name.to_owned(), self.value(name, inferred)?);
        }
        Ok(frame.with_param_values(values)?)
    }

    fn value(&self, name: &str, inferred: Option<DataType>) -> Result<ScalarValue, Failure> {
        let given = self.given.iter().rev().find(|(known, _)| known == name);
        let declared = self.declared.iter().find(|d| d.name == name);
        let text = match (given, declared.map(|d| &d.preset)) {
            (Some((_, text)), _) => Some(text.as_str()),
            (None, Some(Preset::Text(text))) => Some(text.as_str()),
            (None, Some(Preset::Null)) => None,
            (None, Some(Preset::Required) | None) => {
                return Err(Failure::Message(format!(
                    "${name} has no value: give it one with --param {name}=VALUE \
                     (.recipe NAME {name}=VALUE at the prompt)"
                )));
            }
        };
        let target = declared
            .and_then(|d| data_type(&d.kind))
            .or(inferred)
            .unwrap_or(DataType::Utf8);
        // The plan may want a dictionary or view; the plain type compares with them all.
        let target = match target {
            DataType::Dictionary(_, _) | DataType::Utf8View | DataType::Null => DataType::Utf8,
            other => other,
        };
        match text {
            None => Ok(ScalarValue::try_from(&target)?),
            Some(text) => {
                let wrong = || {
                    let kind = declared.map_or_else(|| target.to_string(), |d| d.kind.clone());
                    Failure::Message(format!("${name} = '{text}' is no {kind}"))
                };
                let value = ScalarValue::try_from_string(text.to_owned(), &target);
                match value.map_err(|_| wrong())? {
                    value if value.is_null() => Err(wrong()),
                    value => Ok(value),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::arrow::util::display::array_value_to_string;
    use datafusion::prelude::SessionContext;

    fn given(name: &str, value: &str) -> Vec<(String, String)> {
        vec![(name.to_owned(), value.to_owned())]
    }

    #[test]
    fn declarations() {
        let script = "-- question: ?\n-- params:   $a text = 'x, y''s', $b integer = 20, \
                      $c timestamp = null, $d number\nselect 1\n-- params: $e text";
        let declared = declared(script).unwrap();
        let shown: Vec<String> = declared
            .iter()
            .map(|d| format!("{} {} {:?}", d.name, d.kind, d.preset))
            .collect();
        assert_eq!(
            shown,
            [
                "a text Text(\"x, y's\")",
                "b integer Text(\"20\")",
                "c timestamp Null",
                "d number Required"
            ]
        );
        assert_eq!(super::declared("-- params: none\nselect 1"), Ok(vec![]));
        assert!(super::declared("-- params: $a\n").is_err());
        assert!(super::declared("-- params: $a txt = 1\n").is_err());
    }

    async fn run(script: &str, given: &[(String, String)]) -> Result<String, Failure> {
        let context = SessionContext::new();
        let frame = Params::new(script, given)?.bind(context.sql(script).await?)?;
        let batches = frame.collect().await?;
        let column = batches[0].column(0);
        Ok(array_value_to_string(column, 0)?)
    }

    #[tokio::test]
    async fn values_take_the_declared_type() {
        let script = "-- params: $n integer = 20, $t timestamp = null\n\
                      select arrow_typeof($n) || ' ' || $n || ' ' || coalesce(arrow_typeof($t), '')";
        assert_eq!(
            run(script, &[]).await.unwrap(),
            "Int64 20 Timestamp(µs, \"UTC\")"
        );
        let wrong = run(script, &given("n", "many")).await.unwrap_err();
        assert!(matches!(wrong, Failure::Message(text) if text == "$n = 'many' is no integer"));
        let wrong = run(script, &given("m", "1")).await.unwrap_err();
        assert!(
            matches!(wrong, Failure::Message(text) if text == "no parameter $m; did you mean $n?")
        );
    }

    #[tokio::test]
    async fn undeclared_values_take_the_type_of_their_place() {
        let script = "select count(*) from (values (1), (2)) t(x) where x >= $low";
        assert_eq!(run(script, &given("low", "2")).await.unwrap(), "1");
        let missing = run(script, &[]).await.unwrap_err();
        assert!(matches!(missing, Failure::Message(text) if text.starts_with("$low has no value")));
        assert_eq!(run("select $x", &given("x", "a")).await.unwrap(), "a");
    }
}
