import type { texts as english } from '../en/journeys.ts'

export const texts: typeof english = {
  start: 'התחלה',
  share: 'חלק',

  lifecycle: 'מי פעיל',
  lifecycleIntro:
    'חדשים: פעילים בפעם הראשונה. חוזרים: היו פעילים גם בפרק הזמן הקודם. שבו לפעילות: פעילים שוב אחרי הפסקה. רדומים: היו פעילים בפרק הזמן הקודם, אך לא בזה. פרק הזמן האחרון אולי עוד לא הסתיים.',
  active: 'פעיל הוא מי שביצע',
  kinds: { returning: 'חוזרים', new: 'חדשים', resurrecting: 'שבו לפעילות', dormant: 'רדומים' },

  stagesNow: 'אנשי קשר לפי שלב, עכשיו',
  stage: 'שלב',
  moves: 'מעברים בין שלבים',
  movesIntro: 'לפי המועד שבו התרחש האירוע שגרם למעבר.',
  movesOverTime: 'מעברים לאורך זמן',
  fromTo: 'מהשורה אל העמודה',
  newContact: 'איש קשר חדש',
  beganIn: (stage) => `חדשים בשלב ${stage}`,
  move: (from, to) => `${from} ← ${to}`,

  scores: 'אנשי קשר לפי ציון מעורבות, עכשיו',
  scoresIntro:
    'מ-0 עד 100. אירוע שווה 5 נקודות, צפייה בדף ודקה של זמן פעיל שוות נקודה כל אחת; נקודה מאבדת חצי מערכה בכל 14 יום. 20 נקודות הן ציון 50.',
  score: 'ציון',
  withoutScore: 'ללא ציון',
  withoutScoreNote: 'עדיין לא עשו דבר',
  median: 'חציון',
  medianNote: 'של בעלי ציון',
  noScoresTitle: 'אין עדיין ציונים',
  noScores: 'לאיש קשר יש ציון מהאירוע או מהצפייה הראשונים.',
  movers: 'השינויים הגדולים של השבוע',
  moversIntro: 'מי שציונם השתנה יותר מכול ב-7 ימים. בלי פעילות, הציון יורד.',
  risen: 'עלו',
  fallen: 'ירדו',
  noMovers: 'אין כאלה השבוע',
  before: 'לפני כן',
  now: 'עכשיו',
  change: 'שינוי',

  allSegments: 'כל הפלחים',
  allCampaigns: 'כל הקמפיינים',
  noCampaigns: 'אין קמפיינים פעילים',
  enrolledLately: 'נרשמו',
  convertedLately: 'הגיעו למטרה',
  enrolledByDay: '30 הימים האחרונים',
  enrolledTrend: (most) => `נרשמו לפי יום ב-30 ימים, לכל היותר ${most} ביום אחד`,
}
