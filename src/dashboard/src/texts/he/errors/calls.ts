import type { CALL_FAULTS } from '../../../../../rules/faults/calls.ts'
import type { TextsOf } from '../../error-texts.ts'

export const calls: TextsOf<typeof CALL_FAULTS> = {
  exactly_one: 'חייב לכלול בדיוק אחד מאלה: {fields}',
  customer_id: 'חייב להיות מספר לקוח',
  not_to_email: 'לא מתאים ל־to.email: התבנית מיועדת ל־{channel}',
  not_to_phone: 'לא מתאים ל־to.phone: התבנית מיועדת ל־{channel}',
  not_by_webhook: 'לא יכול להיות תבנית של webhook',
  only_by_email: 'קיים רק באימייל',
  data_too_deep: 'מקונן עמוק מדי',
  valid_for: 'חייב להיות משך זמן מ־PT10S עד P3D',
  file_name: 'חייב להיות שם קובץ בלי /, \\ ותווי בקרה',
  media_type: 'חייב להיות סוג מדיה כגון application/pdf',
  content_id: 'חייב להיות 1 עד 255 תווים בלי רווחים וסוגריים',
  base64: 'חייב להיות base64',
  per_address_hour: 'חייב להיות מספר שלם מ־1 עד {max}, או null',
}
