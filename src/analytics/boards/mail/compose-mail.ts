/** Composes the mail of a board for one person: as text and as HTML, with the same figures. */
import { addDays } from '../../../rules/boards/mail-week.ts'
import { PAGE_LANGUAGES, type PageLanguage } from '../../../rules/page-language.ts'
import type { Figure, Name, Summary, Unit } from './summary.ts'
import { MAIL_TEXTS, type MailTexts } from './texts.ts'

export interface Section {
  title: string
  /** URL of the chart's page. */
  link: string
  /** `hidden`: the person may not see the chart. */
  summary: Summary | { kind: 'hidden' }
}

export interface BoardMail {
  business: string
  board: string
  /** URL of the board's page. */
  link: string
  /** URL of the page on which the mail is turned off. */
  turnOff: string
  /** Date of the Monday on which the mail is sent. */
  week: string
  sections: readonly Section[]
}

const MAX_ROWS = 12
const MAX_COLUMNS = 8
const MAX_CELL = 200

export const readLanguage = (known: string | null): PageLanguage => PAGE_LANGUAGES.find((one) => one === known) ?? 'en'

export function composeMail(mail: BoardMail, language: PageLanguage): { subject: string; text: string; html: string } {
  const texts = MAIL_TEXTS[language]
  const day = (date: string) =>
    new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }).format(Date.parse(date))
  const board = oneLine(mail.board)
  const intro = texts.intro(day(addDays(mail.week, -7)), day(addDays(mail.week, -1)))
  const blocks = mail.sections.map(({ title, link, summary }) => ({
    title: oneLine(title),
    link: summary.kind === 'hidden' ? null : link,
    ...layOut(summary, texts, language),
  }))
  const subject = texts.subject(board, oneLine(mail.business))
  const content = { board, intro, blocks, link: mail.link, turnOff: mail.turnOff, texts, language }
  return { subject, text: writeText(content), html: writeHtml(content) }
}

interface Block {
  title: string
  link: string | null
  /** Column heads of the table. The first column names the row. Empty without a table. */
  heads: string[]
  rows: string[][]
  /** Text in place of a table, or below it. */
  note: string | null
}

interface Content {
  board: string
  intro: string
  blocks: Block[]
  link: string
  turnOff: string
  texts: MailTexts
  language: PageLanguage
}

function layOut(
  summary: Section['summary'],
  texts: MailTexts,
  language: PageLanguage,
): Pick<Block, 'heads' | 'rows' | 'note'> {
  const nothing = { heads: [], rows: [] }
  switch (summary.kind) {
    case 'hidden':
      return { ...nothing, note: texts.hidden }
    case 'too_much':
      return { ...nothing, note: texts.tooMuch }
    case 'gone':
      return { ...nothing, note: texts.gone }
    case 'table': {
      const rows = summary.rows
        .slice(0, MAX_ROWS)
        .map((row) => row.slice(0, MAX_COLUMNS).map((one) => cell(one ?? '–')))
      if (rows.length === 0) return { ...nothing, note: texts.none }
      const heads = summary.columns.slice(0, MAX_COLUMNS).map(cell)
      return { heads, rows, note: noteOf(summary.rows.length, texts, language) }
    }
    case 'figures': {
      if (summary.figures.length === 0) return { ...nothing, note: texts.none }
      const heads = [texts.figure, texts.last, texts.before, texts.change]
      const rows = summary.figures.slice(0, MAX_ROWS).map((one) => rowOf(one, texts, language))
      return { heads, rows, note: noteOf(summary.figures.length, texts, language) }
    }
  }
}

const noteOf = (count: number, texts: MailTexts, language: PageLanguage): string | null =>
  count > MAX_ROWS ? texts.more(new Intl.NumberFormat(language).format(count - MAX_ROWS)) : null

function rowOf({ name, unit, last, before }: Figure, texts: MailTexts, language: PageLanguage): string[] {
  const show = (value: number | null) => (value === null ? '–' : formatValue(value, unit, language))
  const change = last === null || before === null || before === 0 ? null : (last - before) / Math.abs(before)
  const percent = { style: 'percent', maximumFractionDigits: 1, signDisplay: 'exceptZero' } as const
  return [
    cell(name.map((one) => wordsOf(one, texts)).join(' ')),
    show(last),
    show(before),
    change === null ? '–' : new Intl.NumberFormat(language, percent).format(change),
  ]
}

const wordsOf = (name: Name, { words }: MailTexts): string =>
  'text' in name ? name.text : [words[name.word], name.of].filter(Boolean).join(' ')

function formatValue(value: number, unit: Unit, language: PageLanguage): string {
  if (unit === 'share')
    return new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 }).format(value)
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 2 })
  if (unit === 'number' || unit.money === null) return number.format(value)
  try {
    return new Intl.NumberFormat(language, { style: 'currency', currency: unit.money }).format(value)
  } catch {
    // Callers may send codes that are not currencies. They are shown unchanged.
    return `${number.format(value)} ${oneLine(unit.money)}`
  }
}

/**
 * Removes line breaks and control characters. Callers choose these texts: they must not look like more lines of the
 * mail, or reverse the direction of what follows.
 */
const oneLine = (value: string): string => value.replaceAll(/[\s\p{C}]+/gu, ' ').trim()

const cell = (value: string): string => {
  const line = oneLine(value)
  return line.length > MAX_CELL ? `${line.slice(0, MAX_CELL).replace(/[\uD800-\uDBFF]$/, '')}…` : line
}

function writeText({ board, intro, blocks, link, turnOff, texts }: Content): string {
  const parts = blocks.map(({ title, link: page, heads, rows, note }) =>
    [
      title,
      ...(heads.length > 0 ? [`  ${heads.join(' | ')}`] : []),
      ...rows.map((row) => `  ${row.join(' | ')}`),
      ...(note === null ? [] : [`  ${note}`]),
      ...(page === null ? [] : [`  ${texts.open}: ${page}`]),
    ].join('\n'),
  )
  return [board, intro, ...parts, `${texts.openBoard}: ${link}`, `${texts.turnOff}: ${turnOff}`].join('\n\n')
}

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escape = (value: string): string => value.replaceAll(/[&<>"']/g, (one) => ESCAPES[one] ?? '')

const CELL = 'padding:4px 10px;border-bottom:1px solid #ddd'
const MUTED = 'color:#666;font-size:13px'

function writeHtml({ board, intro, blocks, link, turnOff, texts, language }: Content): string {
  const { direction } = texts
  const [start, end] = direction === 'rtl' ? ['right', 'left'] : ['left', 'right']
  const align = (at: number) => `text-align:${at === 0 ? start : end}`
  const row = (tag: 'th' | 'td') => (cells: string[]) =>
    `<tr>${cells.map((one, at) => `<${tag} style="${CELL};${align(at)}"><bdi>${escape(one)}</bdi></${tag}>`).join('')}</tr>`
  const sections = blocks.map(({ title, link: page, heads, rows, note }) => {
    const table = `<table style="border-collapse:collapse;font-size:14px">${row('th')(heads)}${rows.map(row('td')).join('')}</table>`
    return [
      `<h2 style="font-size:16px;margin:24px 0 6px"><bdi>${escape(title)}</bdi></h2>`,
      rows.length > 0 ? table : '',
      note === null ? '' : `<p style="${MUTED}">${escape(note)}</p>`,
      page === null ? '' : `<p><a href="${escape(page)}">${escape(texts.open)}</a></p>`,
    ].join('')
  })
  return [
    `<!doctype html><html lang="${language}" dir="${direction}"><head><meta charset="utf-8"><title>${escape(board)}</title></head>`,
    '<body style="font-family:sans-serif;color:#222">',
    `<h1 style="font-size:20px"><bdi>${escape(board)}</bdi></h1><p>${escape(intro)}</p>`,
    ...sections,
    `<p style="margin-top:24px"><a href="${escape(link)}">${escape(texts.openBoard)}</a></p>`,
    `<p style="${MUTED}">${escape(texts.turnOff)}: <a href="${escape(turnOff)}">${escape(board)}</a></p>`,
    '</body></html>',
  ].join('\n')
}
