/**
 * SQL, of the campaign `c`: the key of the advisory lock that claims share, and that a change of the status takes alone. The row of the
 * campaign does not suffice: who locks it for share overtakes an update that waits for it, and workers whose claims overlap would keep
 * that waiting for ever. A try for this lock fails while a change waits for it.
 */
export const CLAIMS_LOCK = `hashtextextended('claims ' || c.business_id || ' ' || c.id, 0)`
