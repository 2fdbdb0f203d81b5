//! Examples of what is laid out, and what holds for every list and every width.

use proptest::prelude::*;

use super::*;
use crate::domain::time::Timestamp;

const TIMES: Times = Times { now: Timestamp::from_micros(1_795_251_600_000_000), is_exact: false };
const ID: &str = "0199f3a0-0000-7000-8000-00000000000a";

fn view(width: impl Into<Option<usize>>) -> View {
    View { width: width.into(), is_wide: false, is_colored: false }
}

/// A row: its id, a state, and a free text.
type Row = [String; 3];

const COLUMNS: &[Column<Row>] = &[
    Column::new(0, "ID", |[id, ..], _| id.clone()),
    Column::state(1, "STATE", |[_, state, _], _| state.clone()),
    Column::free(2, "WHY", |[.., why], _| why.clone()),
];

fn rows(rows: &[[&str; 3]]) -> Rows {
    let rows: Vec<Row> = rows.iter().map(|row| row.map(str::to_owned)).collect();
    Rows::new(COLUMNS, &rows, TIMES)
}

#[test]
fn a_table_has_no_borders_and_escapes_its_cells() {
    let rows = rows(&[["1", "open", "acme/\u{1b}[31mred"], ["200", "-", "two\nlines"]]);
    let expected = "\
ID   STATE  WHY
1    open   acme/\\u{1b}[31mred
200  -      two\\nlines
";
    assert_eq!(rows.text(view(None)), expected);
}

#[test]
fn columns_are_left_out_by_rank_and_only_free_text_is_shortened() {
    let rows = rows(&[[ID, "failed", "the forge was away for hours"], [ID, "open", "大きな地図"]]);
    let table = |width| rows.text(view(width));
    assert!(table(74).contains("the forge was away for hours\n"), "{}", table(74));
    let shortened = format!(
        "\
ID                                    STATE   WHY
{ID}  failed  the forge was a…
{ID}  open    大きな地図
"
    );
    assert_eq!(table(62), shortened);
    let without = Rows::new(
        &[
            Column::new(0, "ID", |[id, ..]: &Row, _| id.clone()),
            Column::new(2, "LONG", |[id, ..], _| id.repeat(2)),
            Column::new(1, "STATE", |[_, state, _], _| state.clone()),
        ],
        &[[ID.to_owned(), "open".to_owned(), String::new()]],
        TIMES,
    );
    let expected = format!("ID                                    STATE\n{ID}  open\n");
    assert_eq!(without.text(view(60)), expected);
}

#[test]
fn where_no_table_fits_each_row_is_a_record() {
    let rows = rows(&[[ID, "failed", "the forge was away for hours"], [ID, "open", "-"]]);
    let expected = format!(
        "\
id: {ID}
state: failed
why: the forge was away for hours

id: {ID}
state: open
"
    );
    assert_eq!(rows.text(view(59)), expected);
    assert_eq!(rows.text(view(40)), expected);
    let expected = format!(
        "\
id:
{ID}
state: failed
why: the forge was away for
  hours

id:
{ID}
state: open
"
    );
    assert_eq!(rows.text(view(30)), expected);
    // Everything that was asked for, and whole; what fits stays a table.
    let wide = |width| rows.text(View { is_wide: true, ..view(width) });
    let expected = format!(
        "\
id     {ID}
state  failed
why    the forge was away for hours

id     {ID}
state  open
why    -
"
    );
    assert_eq!(wide(70), expected);
    assert_eq!(wide(80), rows.text(view(None)));
}

#[test]
fn names_stand_in_a_column_while_the_values_have_room() {
    let facts =
        || vec![("item", format!("outbox {ID}")), ("next step", "repair the cause".to_owned())];
    let of = |width: Option<usize>| fields(facts(), view(width));
    let column = format!("item       outbox {ID}\nnext step  repair the cause\n");
    assert_eq!(of(None), column);
    assert_eq!(of(Some(60)), column);
    assert_eq!(of(Some(50)), format!("item: outbox {ID}\nnext step: repair the cause\n"));
    let narrow = format!("item: outbox\n  {ID}\nnext step: repair the cause\n");
    assert_eq!(of(Some(40)), narrow);
}

#[test]
fn states_are_coloured_and_the_width_does_not_count_it() {
    let rows = rows(&[[ID, "failed", "failed"]]);
    let colored = rows.text(View { is_colored: true, ..view(80) });
    assert!(colored.contains(&format!("{ID}  \u{1b}[1m\u{1b}[31mfailed\u{1b}[0m  failed\n")));
    assert_eq!(anstream::adapter::strip_str(&colored).to_string(), rows.text(view(80)));
}

/// Text of any script, with what is wide, what has no width, and what a terminal would obey.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z_]{1,24}",
        "([a-z]{1,60} ?){1,6}",
        "[大きな地図é\u{301}\u{fe0f}☁👩🏽\u{200d}a \n\u{1b}]{0,40}",
        Just("-".to_owned()),
    ]
}

fn listed() -> impl Strategy<Value = Vec<(u128, String, String)>> {
    prop::collection::vec((any::<u128>(), "[a-z_]{1,16}", text()), 1..8)
}

proptest! {
    #[test]
    fn no_line_is_wider_than_the_terminal_and_every_id_is_whole(
        rows in listed(),
        width in 40_usize..240,
        (is_wide, is_colored) in any::<(bool, bool)>(),
    ) {
        let ids: Vec<String> =
            rows.iter().map(|(id, ..)| uuid::Uuid::from_u128(*id).to_string()).collect();
        let cells = rows.iter().zip(&ids);
        let cells = cells.map(|((_, state, why), id)| [id.clone(), state.clone(), why.clone()]);
        let listed = Rows::new(COLUMNS, &cells.collect::<Vec<_>>(), TIMES);
        let text = listed.text(View { width: Some(width), is_wide, is_colored });
        let plain = anstream::adapter::strip_str(&text).to_string();
        for line in plain.lines() {
            prop_assert!(line.width() <= width, "{width}: {line:?} of {plain}");
        }
        for id in &ids {
            prop_assert!(plain.contains(id.as_str()), "{id}: {plain}");
        }
    }
}
