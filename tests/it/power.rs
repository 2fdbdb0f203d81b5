//! The real `svcd` over a disk that fails: power that goes away, a process killed at every sync, and
//! writes and syncs that do not succeed. `tests/power/record.c` is preloaded into it.
//!
//! A power loss is played afterwards: every write, truncation and sync of the database and its
//! companions is recorded, and from the record images of the disk are built, each as a power loss
//! could have left it. What was synced is there; of the rest anything may be. An image must open, be
//! whole, and hold what was acknowledged before the cut.
//!
//! The default run builds 150 images, kills before and after every sync, and lets some 160 calls fail.
//! A campaign is longer, and takes every write instead of some:
//! `SVC_POWER_IMAGES=100000 SVC_POWER_STRIDE=1 cargo test --test it power:: -- --nocapture`.
//! `SVC_POWER_SEED` is another seed. Each run is recorded anew, so a failure names cut and seed only to
//! say where to look.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a helper of a test fails like the test it helps"
)]

mod check;
mod disk;
mod errors;
mod kill;

mod log;
mod loss;
mod script;

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

use svc::runtime::thread;

use crate::daemon::site::Site;

/// Processes at once.
const AT_ONCE: usize = 4;

/// A small generator: the same numbers from the same seed.
struct Numbers(u64);

impl Numbers {
    const fn new(seed: u64) -> Self {
        // Seeds that follow each other must not give numbers that do.
        Self(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number below `bound`; zero when there is none.
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let number = usize::try_from(self.0 >> 8).unwrap();
        number.checked_rem(bound).unwrap_or(0)
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 1
    }
}

/// Compiles the preload, once for this process.
pub(crate) fn preload() -> PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/power/record.c");
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let built = folder.join(format!("record-{}.so", std::process::id()));
        let status = Command::new("cc")
            .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o"])
            .args([built.as_os_str(), source.as_ref()])
            .status();
        assert!(status.unwrap().success(), "the preload does not compile");
        // Another process at the same time puts the same file there.
        let path = folder.join("record.so");
        std::fs::rename(built, &path).unwrap();
        path
    };
    BUILT.get_or_init(build).clone()
}

/// Preloads into every `svcd` that is started from now on.
fn arm(site: &mut Site) {
    let database = site.path("").canonicalize().unwrap().join("svc.db");
    site.set("LD_PRELOAD", preload().to_str().unwrap());
    site.set("POWER_DATABASE", database.to_str().unwrap());
}

fn disarm(site: &mut Site) {
    for name in ["LD_PRELOAD", "POWER_DATABASE", "POWER_LOG", "POWER_FAULT"] {
        site.unset(name);
    }
}

/// Does something for every point, several at once: each waits more than it works.
fn for_each<P, R>(points: Vec<P>, work: fn(&P) -> R) -> Vec<(P, R)>
where
    P: Send + Sync + 'static,
    R: Send + 'static,
{
    let points = Arc::new(Mutex::new(points.into_iter()));
    let results = Arc::new(Mutex::new(Vec::new()));
    let hands: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let (points, results) = (Arc::clone(&points), Arc::clone(&results));
            let hand = move || {
                while let Some(point) = take(&points) {
                    let result = work(&point);
                    results.lock().unwrap().push((point, result));
                }
            };
            thread::spawn("test-hand", hand).unwrap()
        })
        .collect();
    hands.into_iter().for_each(|hand| hand.join().unwrap());
    std::mem::take(&mut *results.lock().unwrap())
}

fn take<P>(points: &Mutex<std::vec::IntoIter<P>>) -> Option<P> {
    points.lock().unwrap().next()
}

#[expect(clippy::print_stderr, reason = "a summary for the person who runs a campaign")]
fn say(text: &str) {
    eprintln!("{text}");
}
