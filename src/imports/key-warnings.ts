/**
 * Returns whether a warning of the service is about the idempotency key: it belongs to an event of another name, so the
 * row is not recorded. An order and its refund have one ID, for example.
 */
export const isKeyWarning = (warning: string): boolean => /\bidempotency[ _]?key\b/i.test(warning)
