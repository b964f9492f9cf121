import type { RULE_FAULTS } from '../../../../../rules/faults/segments.ts'
import type { TextsOf } from '../../error-texts.ts'

export const segments: TextsOf<typeof RULE_FAULTS> = {
  condition: 'נדרשת קבוצה או תנאי',
  one_kind: 'נדרשת בדיוק אחת מהמילים האלה: {words}',
  rule_levels: 'נמצא ברמה {level}: לכלל יש {max} רמות לכל היותר',
  group: 'נדרשת רשימה של 1 עד {max} כללים',
  rule_conditions: 'תנאי אחד יותר מדי: לכלל יש {max} לכל היותר',
  json_size: '\u206632 KiB\u2069 של \u2066JSON\u2069 לכל היותר',
  where: '{max} תנאים על מאפיינים לכל היותר',
  where_item: 'נדרש אובייקט עם \u2066property\u2069, \u2066operator\u2069 ו־\u2066value\u2069',
  real_instant: 'נדרש תאריך או מועד אמיתי לפי \u2066ISO 8601\u2069',
  plain_number: 'נדרש מספר',
  decimal: 'נדרש מספר, או מספר עשרוני כטקסט',
  days: 'נדרש מספר ימים, מעל 0 ו־{max} לכל היותר',
  range: 'נדרשים שני מספרים: מ־ ועד',
  decimal_range: 'נדרשים שני מספרים, גם כטקסט: מ־ ועד',
  lesser_first: 'המספר הקטן מבין השניים צריך להופיע ראשון',
  texts: 'נדרשת רשימה של 1 עד {max} טקסטים',
  not_a_segment: 'אין פלח כזה',
  leads_to_itself: 'מוביל בחזרה אל הפלח עצמו',
  nesting: 'מקונן בעומק של יותר מ־{max} פלחים',
  conditions_with_named: 'יש יותר מ־{max} תנאים, יחד עם אלה של הפלחים שצוינו',
  size_with_named: 'ארוך מ־{max} תווים, יחד עם הכללים של הפלחים שצוינו',
  outer_nesting: 'הפלח {segment}, שמשתמש בפלח הזה, יהיה מקונן בעומק של יותר מ־{max} פלחים',
  outer_conditions: 'לפלח {segment}, שמשתמש בפלח הזה, יהיו יותר מ־{max} תנאים',
  outer_size: 'הכלל של הפלח {segment}, שמשתמש בפלח הזה, יהיה ארוך מ־{max} תווים',
}
