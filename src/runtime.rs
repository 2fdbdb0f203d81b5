//! What the process needs of its platform: time, chance, threads, and waiting, each in one place, so that
//! tests can put something else there and nothing goes around it.

pub mod clock;
pub mod current;
pub mod histogram;
pub mod keyed_semaphore;
pub mod lock_file;
pub mod log_throttle;
pub mod mutex;
pub mod notify;
pub mod random;
pub mod rate_limiter;
pub mod semaphore;
pub mod sliding_window;
pub mod stdout;
pub mod thread;
pub mod watch;
