/** The texts of the page, in the languages of the dashboard. */
import type { Channel } from '../../../rules/events/facts.ts'
import type { PageLanguage } from '../../../rules/page-language.ts'

/** `of`: name of a channel. */
export interface PageTexts {
  channels: Record<Channel, string>
  title: (business: string) => string
  preferences: string
  nothingElse: string
  isSubscribed: (of: string) => string
  isEnded: (of: string) => string
  end: (of: string) => string
  endAll: string
  resume: (of: string) => string
  /** About messages that need no opt-in. */
  note: string
  didEnd: string
  didResume: string
  save: string
  didSave: string
  didNotResume: string
  received: string
  confirm: (business: string) => string
  confirmButton: string
  didConfirm: string
  didNotConfirm: string
  erased: string
  inert: string
  notFound: string
  tooMany: string
  failed: string
}

const en: PageTexts = {
  channels: { email: 'email', sms: 'SMS', whatsapp: 'WhatsApp', push: 'push notifications' },
  title: (business) => `Messages from ${business}`,
  preferences: 'Your preferences',
  nothingElse: 'You have no other subscriptions.',
  isSubscribed: (of) => `You are subscribed to ${of}.`,
  isEnded: (of) => `You are unsubscribed from ${of}.`,
  end: (of) => `Unsubscribe from ${of}`,
  endAll: 'Unsubscribe from everything',
  resume: (of) => `Subscribe to ${of} again`,
  note: 'You may still get messages about something that you did yourself, such as a receipt or a new password.',
  didEnd: 'You are unsubscribed.',
  didResume: 'You are subscribed again.',
  save: 'Save',
  didSave: 'Your choice is saved.',
  didNotResume: 'You can no longer subscribe on this page. Please ask the sender.',
  received: 'Your choice was received, and takes effect within minutes.',
  confirm: (business) => `Would you like to get emails from ${business}?`,
  confirmButton: 'Yes, subscribe me',
  didConfirm: 'You are subscribed.',
  didNotConfirm: 'This confirmation is no longer valid. Please subscribe again with the sender.',
  erased: 'Nothing is stored about you here any more. You get no further messages.',
  inert: 'This link is from a preview or a test message. It unsubscribes nobody.',
  notFound: 'This link is not valid. Please open the link in the message again, in full.',
  tooMany: 'Too many attempts. Please try again in a minute.',
  failed: 'That did not work. Please try again in a few minutes.',
}

const de: PageTexts = {
  channels: { email: 'E-Mail', sms: 'SMS', whatsapp: 'WhatsApp', push: 'Push-Nachrichten' },
  title: (business) => `Nachrichten von ${business}`,
  preferences: 'Ihre Einstellungen',
  nothingElse: 'Sie haben keine weiteren Abonnements.',
  isSubscribed: (of) => `Angemeldet: ${of}.`,
  isEnded: (of) => `Abgemeldet: ${of}.`,
  end: (of) => `${of} abbestellen`,
  endAll: 'Alles abbestellen',
  resume: (of) => `${of} wieder abonnieren`,
  note: 'Nachrichten zu etwas, das Sie selbst getan haben, können weiterhin kommen, zum Beispiel eine Quittung oder ein neues Passwort.',
  didEnd: 'Sie sind abgemeldet.',
  didResume: 'Sie sind wieder angemeldet.',
  save: 'Speichern',
  didSave: 'Ihre Auswahl ist gespeichert.',
  didNotResume: 'Auf dieser Seite können Sie sich nicht mehr anmelden. Bitte wenden Sie sich an den Absender.',
  received: 'Ihre Wahl ist eingegangen und gilt in wenigen Minuten.',
  confirm: (business) => `Möchten Sie E-Mails von ${business} erhalten?`,
  confirmButton: 'Ja, anmelden',
  didConfirm: 'Sie sind angemeldet.',
  didNotConfirm: 'Diese Bestätigung gilt nicht mehr. Bitte melden Sie sich beim Absender neu an.',
  erased: 'Hier ist nichts mehr über Sie gespeichert. Sie bekommen keine weiteren Nachrichten.',
  inert: 'Dieser Link stammt aus einer Vorschau oder einer Testnachricht. Er meldet niemanden ab.',
  notFound: 'Dieser Link ist ungültig. Bitte öffnen Sie den vollständigen Link in der Nachricht noch einmal.',
  tooMany: 'Zu viele Versuche. Bitte versuchen Sie es in einer Minute noch einmal.',
  failed: 'Das hat nicht geklappt. Bitte versuchen Sie es in einigen Minuten noch einmal.',
}

const he: PageTexts = {
  channels: { email: 'דוא״ל', sms: 'SMS', whatsapp: 'WhatsApp', push: 'התראות דחיפה' },
  title: (business) => `הודעות מאת ${business}`,
  preferences: 'ההעדפות שלך',
  nothingElse: 'אין לך הרשמות נוספות.',
  isSubscribed: (of) => `ההרשמה פעילה: ${of}.`,
  isEnded: (of) => `ההרשמה בוטלה: ${of}.`,
  end: (of) => `ביטול ההרשמה: ${of}`,
  endAll: 'ביטול כל ההרשמות',
  resume: (of) => `הרשמה מחדש: ${of}`,
  note: 'ייתכן שעדיין יגיעו הודעות על פעולות שלך, כגון קבלה או סיסמה חדשה.',
  didEnd: 'ההרשמה בוטלה.',
  didResume: 'ההרשמה פעילה שוב.',
  save: 'שמירה',
  didSave: 'הבחירה נשמרה.',
  didNotResume: 'לא ניתן עוד להירשם בדף זה. יש לפנות לשולח.',
  received: 'הבחירה התקבלה ותיכנס לתוקף בתוך דקות.',
  confirm: (business) => `לקבל דוא״ל מאת ${business}?`,
  confirmButton: 'כן, להירשם',
  didConfirm: 'ההרשמה פעילה.',
  didNotConfirm: 'האישור אינו תקף עוד. יש להירשם מחדש אצל השולח.',
  erased: 'לא שמור כאן עוד מידע עליך. לא יישלחו אליך הודעות נוספות.',
  inert: 'הקישור הוא מתצוגה מקדימה או מהודעת בדיקה. הוא אינו מבטל הרשמה של איש.',
  notFound: 'הקישור אינו תקין. יש לפתוח שוב את הקישור המלא שבהודעה.',
  tooMany: 'יותר מדי ניסיונות. יש לנסות שוב בעוד דקה.',
  failed: 'הפעולה לא הצליחה. יש לנסות שוב בעוד כמה דקות.',
}

export const PAGE_TEXTS: Record<PageLanguage, PageTexts> = { en, de, he }
