import type { texts as english } from '../en/drafts.ts'

export const texts: typeof english = {
  discard: 'ביטול השינויים',
  restored: 'זה מה שהוקלד קודם ולא נשמר. הוא נשמר בדפדפן הזה.',
  conflict: 'מאז שהתחלתם, מישהו שמר גרסה אחרת. אם תשמרו, הגרסה שלכם תחליף אותה.',
}
