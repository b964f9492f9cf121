/** The limits of a rule. Texts are measured in UTF-16 code units. */

/** Levels of groups; a condition is one. */
export const MAX_LEVELS = 8
export const MAX_CONDITIONS = 100
export const MAX_IN_A_GROUP = 100
/** Of events, custom fields, tags and ids of segments. */
export const MAX_NAME = 64
export const MAX_CURRENCY = 8
/** A hundred years. */
export const MAX_DAYS = 36_500
export const MAX_TEXT = 4096
export const MAX_TEXTS = 500
/** Longer than any sum of amounts. */
export const MAX_DECIMAL = 64
export const DECIMAL = /^-?\d+(\.\d+)?$/
/** Conditions on the properties of an event. */
export const MAX_WHERE = 5
export const MAX_PATH = 4096
/** The SQL of a path grows with its parts, and ClickHouse takes long to read it. */
export const MAX_PARTS = 20
