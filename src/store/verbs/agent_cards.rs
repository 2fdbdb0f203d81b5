//! Registered agent cards. A write and what it is conditional on are one transaction, so that of two
//! writers who saw the same card only one goes on.

use crate::api::AgentCard;
use crate::domain::agent_card::{
    CARDS_MAX, CardName, Condition, NewAgentCard, Removal, Write, decide_removal, decide_write,
};
use crate::domain::digest::Digest;
use crate::domain::page::Page;
use crate::store::Store;
use crate::store::error::Error;
use crate::store::sql::{Row, Tx, params};

const COLUMNS: &str = "name, digest, variant, protocol_version, length(card) AS size, revision, \
    created_at, updated_at, updated_by";

impl Store {
    /// Registers a card, when its condition holds. With [`Write::Create`], [`Write::Replace`] and
    /// [`Write::Keep`] comes what is registered now.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be written now.
    pub fn put_agent_card(
        &self,
        card: NewAgentCard,
        condition: Condition,
    ) -> Result<(Write, Option<AgentCard>), Error> {
        self.write(move |tx| {
            // Counted in the transaction that adds: two writers cannot both take the last place.
            let is_full = count(tx)? >= CARDS_MAX;
            let write = decide_write(digest(tx, &card.name)?, card.digest, &condition, is_full);
            match write {
                Write::Create => insert(tx, &card)?,
                Write::Replace => replace(tx, &card)?,
                Write::Keep => {}
                Write::Full | Write::PreconditionFailed => return Ok((write, None)),
            }
            metadata(tx, &card.name).map(|card| (write, Some(card)))
        })
    }

    /// Removes a card, when its condition holds.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be written now.
    pub fn remove_agent_card(
        &self,
        name: CardName,
        condition: Condition,
    ) -> Result<Removal, Error> {
        self.write(move |tx| {
            let removal = decide_removal(digest(tx, &name)?, &condition);
            if let Removal::Remove(_) = removal {
                tx.execute(
                    "DELETE FROM agent_cards WHERE name = :name",
                    params! { ":name": name },
                )?;
            }
            Ok(removal)
        })
    }

    /// Returns a card's bytes and their digest.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn agent_card(&self, name: &CardName) -> Result<Option<(Vec<u8>, Digest)>, Error> {
        self.read(|db| {
            db.query_one(
                "SELECT card, digest FROM agent_cards WHERE name = :name",
                params! { ":name": name },
                |row| Ok((row.get("card")?, row.parse("digest")?)),
            )
        })
    }

    /// Returns cards whose names come after `after`, by name.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when the store cannot be read now.
    pub fn agent_cards(
        &self,
        after: Option<&CardName>,
        limit: u32,
    ) -> Result<Page<AgentCard, CardName>, Error> {
        self.read(|db| {
            // An empty string sorts before every name, so the first page needs no statement of its own.
            let sql = format!(
                "SELECT {COLUMNS} FROM agent_cards WHERE name > :after \
                 ORDER BY name LIMIT +:limit"
            );
            Ok(Page::cut(
                db.query(
                    &sql,
                    params! {
                        ":after": after.map_or("", CardName::as_str),
                        ":limit": i64::from(limit) + 1,
                    },
                    card,
                )?,
                limit,
                |card| card.name.clone(),
            ))
        })
    }
}

fn count(tx: &Tx<'_>) -> Result<u32, Error> {
    tx.value("SELECT count(*) FROM agent_cards", &[])
}

fn digest(tx: &Tx<'_>, name: &CardName) -> Result<Option<Digest>, Error> {
    tx.query_one(
        "SELECT digest FROM agent_cards WHERE name = :name",
        params! { ":name": name },
        |row| row.parse("digest"),
    )
}

fn insert(tx: &Tx<'_>, card: &NewAgentCard) -> Result<(), Error> {
    tx.execute(
        "INSERT INTO agent_cards (name, digest, variant, protocol_version, revision, \
            created_at, updated_at, updated_by, card) \
         VALUES (:name, :digest, :variant, :version, 1, :now, :now, :actor, :card)",
        params! {
            ":name": card.name,
            ":digest": card.digest.to_string(),
            ":variant": card.variant,
            ":version": card.protocol_version,
            ":now": tx.now,
            ":actor": card.actor,
            ":card": card.bytes,
        },
    )?;
    Ok(())
}

fn replace(tx: &Tx<'_>, card: &NewAgentCard) -> Result<(), Error> {
    tx.execute(
        "UPDATE agent_cards SET digest = :digest, variant = :variant, \
            protocol_version = :version, revision = revision + 1, updated_at = :now, \
            updated_by = :actor, card = :card \
         WHERE name = :name",
        params! {
            ":name": card.name,
            ":digest": card.digest.to_string(),
            ":variant": card.variant,
            ":version": card.protocol_version,
            ":now": tx.now,
            ":actor": card.actor,
            ":card": card.bytes,
        },
    )?;
    Ok(())
}

fn metadata(tx: &Tx<'_>, name: &CardName) -> Result<AgentCard, Error> {
    let sql = format!("SELECT {COLUMNS} FROM agent_cards WHERE name = :name");
    tx.query_one(&sql, params! { ":name": name }, card)?.ok_or(Error::Row("name"))
}

fn card(row: &Row<'_>) -> Result<AgentCard, Error> {
    Ok(AgentCard {
        name: row.parse("name")?,
        digest: row.parse("digest")?,
        variant: row.get("variant")?,
        protocol_version: row.get("protocol_version")?,
        size: row.get("size")?,
        revision: row.get("revision")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
        updated_by: row.get("updated_by")?,
    })
}
