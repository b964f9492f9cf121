import type { texts as english } from '../en/test-sequence.ts'

export const texts: typeof english = {
  button: 'שליחת הרצף אליי',
  title: 'שליחת הרצף כולו אליי',
  intro: 'כל ההודעות נשלחות עכשיו, בזו אחר זו, ללא המתנות וללא תלות בהסכמה. איש אינו נרשם, ואף דוח אינו סופר אותן.',
  addresses: {
    email: 'כתובת דוא״ל',
    sms: 'מספר טלפון ל־SMS',
    whatsapp: 'מספר טלפון ל־WhatsApp',
    push: 'המזהה של איש קשר',
  },
  emptyHint: 'ריק: ההודעות שלו מדולגות.',
  anybody: 'ללא איש קשר מסוים',
  contactHint: 'כאיש קשר: דרכו בפיצולים, והערכים שלו בהודעות.',
  send: 'שליחה',
  outcome: 'מה עלה בגורלן',
  outcomes: {
    accepted: 'התקבלה',
    refused: 'נדחתה לתמיד',
    temporary: 'לא התקבלה עכשיו',
    unknown: 'אין תשובה',
    template_failed: 'התבנית נכשלה',
    skipped: 'דולגה',
    not_sent: 'הזמן נגמר',
  },
  logged: 'נשמרה ביומן: דבר לא יצא מהשרת.',
  says: 'הספק אומר:',
  nothing: 'בדרך הזאת דבר אינו נשלח.',
}
