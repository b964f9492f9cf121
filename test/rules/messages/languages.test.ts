import { describe, expect, it } from 'vitest'
import { chooseLanguage, readLanguage } from '../../../src/rules/messages/choose-language.ts'
import { GREETING_LANGUAGES, greetingWord } from '../../../src/rules/messages/greeting-word.ts'

describe('the language of a message', () => {
  it.each([
    ['pt-BR', ['en', 'pt', 'pt-BR'], 'pt-BR'],
    ['pt_br', ['en', 'pt', 'pt-BR'], 'pt-BR'],
    ['pt-BR', ['en', 'pt'], 'pt'],
    ['pt-PT', ['en', 'pt-BR'], 'en'],
    ['PT', ['en', 'pt'], 'pt'],
    ['zh-Hant-TW', ['en', 'zh-Hant', 'zh'], 'zh-Hant'],
    ['fr', ['en', 'pt'], 'en'],
    ['', ['en', 'pt'], 'en'],
    ['not a language', ['en', 'pt'], 'en'],
    [null, ['pt', 'en'], 'en'],
  ])('for a contact of %s with variants in %s is %s', (wanted, languages, chosen) => {
    expect(chooseLanguage(wanted, languages, 'en')).toBe(chosen)
  })

  it('has one usual form', () => {
    expect(['EN', 'pt_br', ' zh-hant-tw ', 'x', 'english language'].map(readLanguage)).toEqual([
      'en',
      'pt-BR',
      'zh-Hant-TW',
      null,
      null,
    ])
  })
})

describe('the word in place of a first name', () => {
  it('is there in twenty languages and more', () => {
    expect(GREETING_LANGUAGES.length).toBeGreaterThanOrEqual(20)
    for (const language of GREETING_LANGUAGES) expect(greetingWord(language)).not.toBe('')
  })

  it('is that of the language, else of its first part, else the English one', () => {
    expect(greetingWord('en')).toBe('there')
    expect(greetingWord('en-GB')).toBe('there')
    expect(greetingWord('pt-BR')).not.toBe(greetingWord('pt'))
    expect(greetingWord('de-AT')).toBe(greetingWord('de'))
    expect(greetingWord('tlh')).toBe('there')
  })
})
