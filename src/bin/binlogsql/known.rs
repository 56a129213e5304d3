//! The relations, for who must not wait: which tables the logs hold shows when the logs are read,
//! which a thread of its own does.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use datafusion::prelude::SessionContext;

use crate::names::{self, Relation};
use crate::session::{self, Session};

/// The relations of a session, as far as they are known.
pub struct Known {
    context: SessionContext,
    looked: Mutex<Looked>,
    done: Condvar,
}

struct Looked {
    /// The relations that need no look into a log, then all.
    found: Vec<Relation>,
    /// The thread is at work.
    busy: bool,
}

impl Known {
    /// Knows what every source has.
    pub fn new(session: &Session) -> Self {
        let sources = session.sources.iter();
        let built_in = |source: &String| {
            let relation = |relation: &session::Relation| Relation {
                catalog: source.clone(),
                schema: "binlog".to_owned(),
                name: relation.name().to_owned(),
            };
            let all = session::Relation::ALL.iter().map(relation);
            all.collect::<Vec<_>>()
        };
        Self {
            context: session.context.clone(),
            looked: Mutex::new(Looked {
                found: sources.flat_map(built_in).collect(),
                busy: false,
            }),
            done: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Looked> {
        self.looked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known now, or when this time has passed. Each call has what is known looked over.
    pub fn relations(self: &Arc<Self>, patience: Duration) -> Vec<Relation> {
        let mut looked = self.lock();
        if !looked.busy {
            let this = Arc::clone(self);
            let thread = std::thread::Builder::new().name("relations".to_owned());
            let thread = thread.spawn(move || {
                let found = names::relations(&this.context);
                let mut looked = this.lock();
                looked.found = found;
                looked.busy = false;
                this.done.notify_all();
            });
            looked.busy = thread.is_ok();
        }
        let waited = self
            .done
            .wait_timeout_while(looked, patience, |looked| looked.busy);
        let (looked, _) = waited.unwrap_or_else(PoisonError::into_inner);
        looked.found.clone()
    }
}
