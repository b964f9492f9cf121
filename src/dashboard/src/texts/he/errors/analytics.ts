import type { ANALYTICS_FAULTS } from '../../../../../rules/faults/analytics.ts'
import type { TextsOf } from '../../error-texts.ts'

export const analytics: TextsOf<typeof ANALYTICS_FAULTS> = {
  distinct_events: 'בסדר כלשהו נדרשים אירועים שונים',
  funnel_steps: 'נדרשת רשימה של {min} עד {max} שלבים',
  series: 'נדרשת רשימה של 1 עד {max} סדרות',
  events: '{max} שמות אירועים לכל היותר',
  breakdown:
    'נדרש \u2066event, source, stage, country, segment\u2069, \u2066field:\u2069 עם המפתח של שדה מותאם, או \u2066property:\u2069 עם הנתיב של מאפיין',
  formula: 'נדרש חישוב על \u2066a\u2069 ו־\u2066b\u2069 עם \u2066+ - * /\u2069 וסוגריים, עד {max} תווים',
  formula_of_two: 'נדרשות שתי סדרות: \u2066a\u2069 ו־\u2066b\u2069',
  intervals: 'טווח הזמן יתחלק ל־{max} קטעים לכל היותר',
  a_recipient: 'יש לבחור לפחות אדם אחד',
  recipients: 'נדרשים אנשים של העסק הזה',
  query_names: 'נדרשים שמות של 1 עד 64 תווים: אותיות, ספרות ו־\u2066_\u2069',
  no_time_range_of_query: 'יש להשמיט: לשאילתה אין טווח זמן',
  no_time_range_of_chart: 'יש להשמיט: לתרשים הזה אין טווח זמן',
  beside_days: 'יש להשמיט כאשר יש \u2066days\u2069',
  page_of_business: 'נדרש דף של העסק, כגון \u2066analytics/funnel?days=7\u2069',
  no_parameter: 'אינו פרמטר של התרשים הזה',
  charts_of_board: 'כל תרשים צריך להיות בלוח ולהופיע פעם אחת',
  slow_statement: 'הפקודה נמשכה יותר מ־{max} שניות. יש לקרוא פחות: טווח זמן קצר יותר, פחות שורות.',
  large_statement: 'הפקודה דרשה יותר מ־\u2066{max} MiB\u2069 של זיכרון. יש לקבץ לפי פחות ערכים, או לקרוא פחות.',
}
