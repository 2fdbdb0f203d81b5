//! A page on a thread of its own, as in a browser: it answers while other threads wait for its events.

use std::io;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::Plugin;
use super::event::Event;
use crate::runtime::thread;

/// The longest wait of an order before the page carries it out.
const ORDER: Duration = Duration::from_millis(20);

/// An action of a person.
type Order = Box<dyn FnOnce(&mut Plugin) + Send>;

/// A page that runs. When it is dropped, its connection ends.
pub struct Running {
    orders: Sender<Order>,
    events: Receiver<Event>,
    thread: Option<JoinHandle<Plugin>>,
}

impl Running {
    /// Runs a page. `react` sees each event first, as a person or a tamperer in front of it, then the caller does.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(
        mut plugin: Plugin,
        mut react: impl FnMut(&mut Plugin, &Event) + Send + 'static,
    ) -> io::Result<Self> {
        let (orders, inbox) = channel::<Order>();
        let (outbox, events) = channel();
        let body = move || {
            loop {
                match inbox.try_recv() {
                    Ok(order) => order(&mut plugin),
                    Err(TryRecvError::Disconnected) => return plugin,
                    Err(TryRecvError::Empty)
                        if plugin.line.is_none() && plugin.events.is_empty() =>
                    {
                        // Without a socket there is nothing to wait for but orders.
                        match inbox.recv() {
                            Ok(order) => order(&mut plugin),
                            Err(_) => return plugin,
                        }
                    }
                    Err(TryRecvError::Empty) => {}
                }
                let event = plugin.pump(ORDER);
                if event != Event::Nothing {
                    react(&mut plugin, &event);
                    // The caller may not be listening.
                    drop(outbox.send(event));
                }
            }
        };
        let thread = Some(thread::spawn("plugin-page", body)?);
        Ok(Self { orders, events, thread })
    }

    /// Has the page carry out an action of a person, soon.
    pub fn order(&self, order: impl FnOnce(&mut Plugin) + Send + 'static) {
        // A page that is gone does nothing more.
        drop(self.orders.send(Box::new(order)));
    }

    /// Asks the page, and waits for its answer; `None` when it is gone.
    pub fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Plugin) -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, answer) = channel();
        self.order(move |plugin| drop(sender.send(question(plugin))));
        answer.recv().ok()
    }

    /// Waits for the next event, at most for `patience`.
    #[must_use]
    pub fn event(&self, patience: Duration) -> Option<Event> {
        self.events.recv_timeout(patience).ok()
    }

    /// Waits for an event that is wanted; returns what the caller makes of it, or `None` when nothing comes for
    /// `patience`.
    pub fn until<T>(
        &self,
        patience: Duration,
        mut wanted: impl FnMut(&Event) -> Option<T>,
    ) -> Option<T> {
        loop {
            if let Some(found) = wanted(&self.event(patience)?) {
                return Some(found);
            }
        }
    }

    /// Stops the page; returns it with its connection as it is.
    #[must_use]
    pub fn stop(mut self) -> Option<Plugin> {
        let thread = self.thread.take();
        drop(self);
        thread.and_then(|thread| thread.join().ok())
    }
}
