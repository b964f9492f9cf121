/** The word that replaces a missing first name, by language: it follows a greeting, as in "Hello there". */
const WORDS: Record<string, string> = {
  ar: 'صديقنا',
  bg: 'приятелю',
  ca: 'a tothom',
  cs: 'příteli',
  da: 'ven',
  de: 'zusammen',
  el: 'φίλε',
  en: 'there',
  es: 'qué tal',
  et: 'sõber',
  fa: 'دوست عزیز',
  fi: 'ystävä',
  fr: 'à vous',
  he: 'לך',
  hi: 'दोस्त',
  hr: 'prijatelju',
  hu: 'barátom',
  id: 'teman',
  it: 'a te',
  ja: 'お客様',
  ko: '고객님',
  lt: 'drauge',
  lv: 'draugs',
  nb: 'der',
  nl: 'daar',
  no: 'der',
  pl: 'tam',
  pt: 'para si',
  'pt-br': 'tudo bem',
  ro: 'prietene',
  ru: 'друг',
  sk: 'priateľ',
  sl: 'prijatelj',
  sr: 'пријатељу',
  sv: 'där',
  th: 'คุณลูกค้า',
  tr: 'dostum',
  uk: 'друже',
  vi: 'bạn',
  zh: '您',
}

export const GREETING_LANGUAGES: readonly string[] = Object.keys(WORDS)

/** Looks up the language, then its first part, then English. */
export function greetingWord(language: string): string {
  const key = language.toLowerCase()
  return WORDS[key] ?? WORDS[key.split('-')[0] ?? ''] ?? 'there'
}
