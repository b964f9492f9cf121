import type { texts as english } from '../en/test-send.ts'

export const texts: typeof english = {
  titles: {
    email: 'שליחת דוא״ל בדיקה',
    sms: 'שליחת SMS בדיקה',
    whatsapp: 'שליחת הודעת בדיקה ב־WhatsApp',
    push: 'שליחת התראת בדיקה',
    webhook: 'קריאה ל־webhook כבדיקה',
  },
  short: 'טקסט קצר של Sluice נשלח עכשיו, ללא תלות בהסכמה.',
  ofTemplate: (name) => `„${name}” נשלחת עכשיו כפי שנשמרה, ללא תלות בהסכמה.`,
  email: 'כתובת דוא״ל',
  phone: 'מספר טלפון',
  contactId: 'המזהה של איש קשר',
  contactIdHint: 'ב־Web Push היא מגיעה לדפדפנים של איש הקשר הזה.',
  send: 'שליחה',
  outcomes: {
    accepted: 'היא התקבלה.',
    refused: 'היא נדחתה לתמיד.',
    temporary: 'היא לא התקבלה עכשיו. אפשר לנסות שוב מאוחר יותר.',
    unknown: 'היא נמסרה, ולא הייתה תשובה. אולי היא תגיע.',
  },
  loginRefused: 'השרת דחה את המשתמש או את הסיסמה. יש לבדוק אותם בהגדרות הערוץ.',
  logged: 'הערוץ הזה שומר את ההודעות ביומן: דבר לא יצא מהשרת.',
  reason: 'הספק אומר:',
}
