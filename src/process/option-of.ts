/** The word without a value, which may be a secret: `--token` for `--token=VALUE`, and `KEY` for `KEY=VALUE`. */
export const optionOf = (word: string): string => word.replace(/=.*/s, '')
