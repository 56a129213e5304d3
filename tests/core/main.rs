//! Tests of the decoder alone: real logs, damaged logs, hostile bytes. No Arrow, no DataFusion.

mod architecture;
mod buglog;
mod corpus;
mod damage;
mod decode;
mod expected;
mod fixtures;
mod forge;
mod fuzz_replay;
mod large;
mod payloads;
mod schema;
mod support;
mod values;
// With the relations they are compared too, in the test binary `sql`.
#[cfg(not(feature = "cli"))]
#[path = "../replay/mod.rs"]
mod replay;
