use std::future::ready;

use tokio::sync::mpsc;

use super::*;

#[tokio::test]
async fn a_sender_that_is_always_ready_lets_others_have_their_turn_and_so_do_they() {
    let (sender, mut queue) = mpsc::channel(64);
    for number in 0..64 {
        sender.send(number).await.unwrap();
    }
    let (mut sends, mut sent, mut others) = (0_u32, 0, 0);
    while sent < 64 {
        tokio::select! {
            biased;
            item = next(&mut queue, sends) => {
                assert_eq!(item, Some(sent));
                sent += 1;
                sends = sends.saturating_add(1);
            }
            () = ready(()) => {
                others += 1;
                sends = 0;
            }
        }
    }
    assert_eq!(others, 64 / SENDS_MAX - 1);
}

#[tokio::test]
async fn where_nothing_else_can_be_done_messages_follow_each_other() {
    let (sender, mut queue) = mpsc::channel(1);
    sender.send(()).await.unwrap();
    assert_eq!(next(&mut queue, SENDS_MAX).await, Some(()));
}
