//! Tests of the decoder alone: real logs, damaged logs, hostile bytes. No Arrow, no DataFusion.

mod architecture;
mod corpus;
mod damage;
mod decode;
mod expected;
mod fixtures;
mod forge;
mod fuzz_replay;
mod large;
mod payloads;
mod support;
