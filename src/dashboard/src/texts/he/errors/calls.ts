import type { CALL_FAULTS } from '../../../../../rules/faults/calls.ts'
import type { TextsOf } from '../../error-texts.ts'

export const calls: TextsOf<typeof CALL_FAULTS> = {
  exactly_one: 'חייב לכלול בדיוק אחד מאלה: {fields}',
  customer_id: 'חייב להיות מספר לקוח',
  not_to_email: 'לא מתאים ל־\u2068to.email\u2069: התבנית מיועדת ל־{channel}',
  not_to_phone: 'לא מתאים ל־\u2068to.phone\u2069: התבנית מיועדת ל־{channel}',
  not_by_webhook: 'לא יכול להיות תבנית של \u2068webhook\u2069',
  only_by_email: 'קיים רק באימייל',
  data_too_deep: 'מקונן עמוק מדי',
  valid_for: 'חייב להיות משך זמן מ־\u2068PT10S\u2069 עד \u2068P3D\u2069',
  file_name: 'חייב להיות שם קובץ בלי /, \\ ותווי בקרה',
  media_type: 'חייב להיות סוג מדיה כגון \u2068application/pdf\u2069',
  content_id: 'חייב להיות 1 עד 255 תווים בלי רווחים וסוגריים',
  base64: 'חייב להיות \u2068base64\u2069',
  per_address_hour: 'חייב להיות מספר שלם מ־1 עד {max}, או \u2068null\u2069',
}
