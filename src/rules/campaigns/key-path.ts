/** Longest path of a key, in UTF-16 code units. */
export const MAX_KEY_PATH = 256
