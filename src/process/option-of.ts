/** The word without the value that an option may have, which may be a secret: `--token` for `--token=VALUE`. */
export const optionOf = (word: string): string => (word.startsWith('-') ? word.replace(/=.*/s, '') : word)
