import type { texts as english } from '../en/messaging.ts'

export const texts: typeof english = {
  title: 'הודעות',
  intro: 'מה שחל על כל הקמפיינים.',
  rules: 'שעות שקט ותקרות',
  rulesIntro: 'שעות השקט חלות על קמפיינים שלא קבעו להם כאלה. שינויים חלים מעכשיו, על כל מי שרשום.',
  capsHint: 'לכל היותר כך וכך הודעות לאיש קשר, בכל הקמפיינים יחד, נוסף על התקרות של כל קמפיין.',
}
