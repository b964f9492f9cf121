/**
 * SQL over the campaign `c`: the key of the advisory lock that claims share, and that a change of the status takes
 * exclusively. A lock of the campaign's row would not suffice: a shared lock overtakes an update that waits for it, so
 * workers with overlapping claims would keep the update waiting for ever. A try for this lock fails while a change
 * waits for it.
 */
export const CLAIMS_LOCK = `hashtextextended('claims ' || c.business_id || ' ' || c.id, 0)`
