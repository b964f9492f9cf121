/** The texts of board mails, in the languages of the dashboard. */
import type { PageLanguage } from '../../../rules/page-language.ts'
import type { Word } from './summary.ts'

export interface MailTexts {
  direction: 'ltr' | 'rtl'
  subject: (board: string, business: string) => string
  /** `from` and `to` are formatted dates. */
  intro: (from: string, to: string) => string
  figure: string
  last: string
  before: string
  change: string
  open: string
  openBoard: string
  turnOff: string
  hidden: string
  tooMuch: string
  gone: string
  none: string
  more: (count: string) => string
  words: Record<Word, string>
}

const en: MailTexts = {
  direction: 'ltr',
  subject: (board, business) => `${board}: last week at ${business}`,
  intro: (from, to) => `The week from ${from} to ${to}, beside the week before.`,
  figure: 'Figure',
  last: 'Last week',
  before: 'Week before',
  change: 'Change',
  open: 'Open the chart',
  openBoard: 'Open the board',
  turnOff: 'You get this mail every Monday. To turn it off, open the board and choose “Weekly mail”',
  hidden: 'Your role in this business does not show this chart.',
  tooMuch: 'This chart takes too long for a mail. Open it with a shorter time range.',
  gone: 'This chart can no longer be read: its saved query or what it names was deleted.',
  none: 'Nothing in these weeks.',
  more: (count) => `${count} more on the page`,
  words: {
    count: 'Events',
    contacts: 'Contacts',
    revenue: 'Revenue',
    sum: 'Sum',
    formula: 'Formula',
    others: 'Others',
    noValue: 'No value',
    allEvents: 'all events',
    step: 'Step',
    conversion: 'Conversion',
    newContacts: 'Began',
    cameBack: 'Of those who began the week before, came back',
    new: 'New',
    returning: 'Returning',
    resurrecting: 'Resurrecting',
    dormant: 'Dormant',
    net: 'Net',
    gross: 'Gross',
    refunds: 'Refunds',
    orders: 'Orders',
    customers: 'Customers',
    newCustomers: 'First-time customers',
    firstWeekValue: 'Revenue of each in the first week',
    visitors: 'Visitors',
    sessions: 'Sessions',
    pageViews: 'Page views',
    bounceRate: 'Bounce rate',
    median: 'Median score, now',
    inactive: 'Without a score, now',
    Awareness: 'Awareness',
    Consideration: 'Consideration',
    Decision: 'Decision',
    Retention: 'Retention',
    Advocacy: 'Advocacy',
  },
}

const de: MailTexts = {
  direction: 'ltr',
  subject: (board, business) => `${board}: letzte Woche bei ${business}`,
  intro: (from, to) => `Die Woche vom ${from} bis ${to} neben der Woche davor.`,
  figure: 'Kennzahl',
  last: 'Letzte Woche',
  before: 'Woche davor',
  change: 'Änderung',
  open: 'Diagramm öffnen',
  openBoard: 'Board öffnen',
  turnOff: 'Diese Mail kommt jeden Montag. Zum Abschalten öffnen Sie das Board und wählen „Wöchentliche Mail“',
  hidden: 'Ihre Rolle in diesem Unternehmen zeigt dieses Diagramm nicht.',
  tooMuch: 'Dieses Diagramm dauert für eine Mail zu lange. Öffnen Sie es mit einem kürzeren Zeitraum.',
  gone: 'Dieses Diagramm lässt sich nicht mehr lesen: Die gespeicherte Abfrage oder etwas, das es nennt, wurde gelöscht.',
  none: 'Nichts in diesen Wochen.',
  more: (count) => `${count} weitere auf der Seite`,
  words: {
    count: 'Ereignisse',
    contacts: 'Kontakte',
    revenue: 'Umsatz',
    sum: 'Summe',
    formula: 'Formel',
    others: 'Andere',
    noValue: 'Kein Wert',
    allEvents: 'alle Ereignisse',
    step: 'Schritt',
    conversion: 'Konversion',
    newContacts: 'Begannen',
    cameBack: 'Von denen, die in der Woche davor begannen, kamen wieder',
    new: 'Neu',
    returning: 'Wiederkehrend',
    resurrecting: 'Zurückgekehrt',
    dormant: 'Ruhend',
    net: 'Netto',
    gross: 'Brutto',
    refunds: 'Erstattungen',
    orders: 'Bestellungen',
    customers: 'Käufer',
    newCustomers: 'Erstkäufer',
    firstWeekValue: 'Umsatz je Käufer in der ersten Woche',
    visitors: 'Besucher',
    sessions: 'Sitzungen',
    pageViews: 'Seitenaufrufe',
    bounceRate: 'Absprungrate',
    median: 'Median der Punkte, jetzt',
    inactive: 'Ohne Punkte, jetzt',
    Awareness: 'Aufmerksamkeit',
    Consideration: 'Abwägung',
    Decision: 'Entscheidung',
    Retention: 'Bindung',
    Advocacy: 'Empfehlung',
  },
}

const he: MailTexts = {
  direction: 'rtl',
  subject: (board, business) => `${board}: השבוע שעבר ב-${business}`,
  intro: (from, to) => `השבוע מ-${from} עד ${to}, לצד השבוע שלפניו.`,
  figure: 'נתון',
  last: 'השבוע שעבר',
  before: 'השבוע שלפניו',
  change: 'שינוי',
  open: 'פתיחת התרשים',
  openBoard: 'פתיחת הלוח',
  turnOff: 'הודעה זו נשלחת בכל יום שני. כדי לבטל אותה יש לפתוח את הלוח ולבחור ”דואר שבועי“',
  hidden: 'התפקיד שלך בעסק הזה אינו מציג את התרשים הזה.',
  tooMuch: 'התרשים הזה אורך זמן רב מדי להודעה. אפשר לפתוח אותו עם טווח זמן קצר יותר.',
  gone: 'אי אפשר עוד לקרוא את התרשים: השאילתה השמורה או משהו שהוא מזכיר נמחק.',
  none: 'אין נתונים בשבועות האלה.',
  more: (count) => `עוד ${count} בדף`,
  words: {
    count: 'אירועים',
    contacts: 'אנשי קשר',
    revenue: 'הכנסות',
    sum: 'סכום',
    formula: 'נוסחה',
    others: 'אחרים',
    noValue: 'ללא ערך',
    allEvents: 'כל האירועים',
    step: 'שלב',
    conversion: 'המרה',
    newContacts: 'התחילו',
    cameBack: 'מאלה שהתחילו בשבוע שלפניו, חזרו',
    new: 'חדשים',
    returning: 'חוזרים',
    resurrecting: 'שבו לפעילות',
    dormant: 'רדומים',
    net: 'נטו',
    gross: 'ברוטו',
    refunds: 'החזרים',
    orders: 'הזמנות',
    customers: 'לקוחות',
    newCustomers: 'לקוחות בפעם הראשונה',
    firstWeekValue: 'הכנסה מכל אחד בשבוע הראשון',
    visitors: 'מבקרים',
    sessions: 'ביקורים',
    pageViews: 'צפיות בדפים',
    bounceRate: 'שיעור נטישה',
    median: 'חציון הציון, כעת',
    inactive: 'ללא ציון, כעת',
    Awareness: 'מודעות',
    Consideration: 'שקילה',
    Decision: 'החלטה',
    Retention: 'שימור',
    Advocacy: 'המלצה',
  },
}

export const MAIL_TEXTS: Record<PageLanguage, MailTexts> = { en, de, he }
