import type { CONTACT_FAULTS } from '../../../../../rules/faults/contacts.ts'
import type { TextsOf } from '../../error-texts.ts'

export const contacts: TextsOf<typeof CONTACT_FAULTS> = {
  too_large_a_number: 'גדול מדי למספר: יש לשלוח כטקסט',
  whole_phone: 'חייב להיות מספר שלם כשהוא נשלח כמספר',
  email_parts: 'נדרש \u2066@\u2069 אחד עם תוכן משני צדדיו, ללא רווחים',
  one_identity: 'נדרש בדיוק אחד מאלה: \u2066email\u2069, \u2066phone\u2069, \u2066platformCustomerId\u2069',
  filters_a_list: 'מסנן רשימה: יש להשמיט את {kind}',
  email_of_the_contact: 'נדרשת אחת מכתובות הדוא״ל של איש הקשר: יש להוסיף אותה קודם עם \u2066identify\u2069',
  phone_of_the_contact: 'נדרש אחד ממספרי הטלפון של איש הקשר: יש להוסיף אותו קודם עם \u2066identify\u2069',
  removed_as_well: 'אסור שיופיע גם ב־\u2066removeIdentities\u2069',
  one_identity_left: 'לאיש הקשר צריך להישאר לפחות מזהה אחד',
  customer_id_stays: 'יש להשמיט: אי אפשר להסיר מספר לקוח',
  unknown_field: 'שדה לא מוכר. השדות המוכרים: {fields}',
  not_an_identity: 'זה ערך ממלא מקום, ולא מזהה',
  in_both_tags: 'יש כאן תגית שנמצאת גם ב־\u2066addTags\u2069',
  trait: 'נדרש טקסט, מספר סופי, \u2066true\u2069, \u2066false\u2069 או \u2066null\u2069',
  field_type: 'הסוג הנדרש: {type}',
  fields_full: 'שדה חדש, ולעסק כבר יש {max} שדות מותאמים',
  field_with_value: 'לערך נדרש שדה',
  value_with_field: 'לשדה נדרש ערך',
  a_filter: 'נדרש לפחות מסנן אחד',
}
