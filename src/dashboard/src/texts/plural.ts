type Forms = { other: string } & Partial<Record<Intl.LDMLPluralRule, string>>

/** Returns what chooses the form of a count in a language: `other` where there is no such form. */
export const pluralIn =
  (language: string) =>
  (count: number, forms: Forms): string =>
    forms[new Intl.PluralRules(language).select(count)] ?? forms.other
